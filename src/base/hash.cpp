// libsodium chooses the fastest BLAKE2b of the processor when it starts.
// Tested by tests/format/buffers_test.cpp and tests/trust/keys_test.cpp.

#include "base/hash.h"

#include <stdexcept>

#include <sodium.h>

namespace waybill::base {

void start_sodium() {
  // sodium_init() is thread-safe too. It returns 1 if another part of the program
  // called it before.
  static const bool started = sodium_init() >= 0;
  if (!started) throw std::runtime_error("libsodium cannot start");
}

namespace {

crypto_generichash_state* state_in(std::byte* memory) {
  return reinterpret_cast<crypto_generichash_state*>(memory);
}

}  // namespace

StrongHashStream::StrongHashStream() {
  static_assert(sizeof state_ >= sizeof(crypto_generichash_state));
  static_assert(alignof(StrongHashStream) >= alignof(crypto_generichash_state));
  start_sodium();
  crypto_generichash_init(state_in(state_), nullptr, 0, crypto_generichash_BYTES);
}

void StrongHashStream::add(BytesView bytes) {
  crypto_generichash_update(state_in(state_), bytes.data(), bytes.size());
}

std::array<std::uint8_t, 32> StrongHashStream::hash() {
  std::array<std::uint8_t, 32> hash;
  static_assert(sizeof hash == crypto_generichash_BYTES);
  crypto_generichash_final(state_in(state_), hash.data(), hash.size());
  return hash;
}

}  // namespace waybill::base
