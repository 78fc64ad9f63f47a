// Tested by tests/trust/keys_test.cpp, and tests/python/untrusted/test_secrets.py,
// which looks through the memory of a process.

#include "trust/secret.h"

#include <new>
#include <stdexcept>

#include <sodium.h>

namespace waybill {

void SecretDeleter::operator()(std::uint8_t* bytes) const noexcept {
  sodium_free(bytes);  // Wipes it first.
}

namespace envelope {

void start_sodium() {
  // Thread-safe by itself too; it says 1 if another part of the program was first.
  static const bool started = sodium_init() >= 0;
  if (!started) throw std::runtime_error("libsodium cannot start");
}

SecretBytes make_secret(std::size_t size) {
  start_sodium();
  auto* bytes = static_cast<std::uint8_t*>(sodium_malloc(size));
  if (bytes == nullptr) throw std::bad_alloc();
  return SecretBytes(bytes);
}

void close_secret(const SecretBytes& bytes) {
  // Where a system has no such protection, the memory is as it was.
  (void)sodium_mprotect_readonly(bytes.get());
}

}  // namespace envelope
}  // namespace waybill
