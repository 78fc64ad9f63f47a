// libsodium chooses the fastest BLAKE2b of the processor when it starts.
// Tested by tests/format/buffers_test.cpp and tests/trust/keys_test.cpp.

#include "base/strong_hash.h"

#include <stdexcept>

#include <sodium.h>

namespace waybill::base {

void start_sodium() {
  // Thread-safe by itself too; it says 1 if another part of the program was first.
  static const bool started = sodium_init() >= 0;
  if (!started) throw std::runtime_error("libsodium cannot start");
}

std::array<std::uint8_t, 32> strong_hash_of(BytesView bytes) {
  start_sodium();
  std::array<std::uint8_t, 32> hash;
  static_assert(sizeof hash == crypto_generichash_BYTES);
  crypto_generichash(hash.data(), hash.size(), bytes.data(), bytes.size(), nullptr, 0);
  return hash;
}

}  // namespace waybill::base
