// Tested by tests/trust/keys_test.cpp, and tests/python/untrusted/test_secrets.py,
// which looks through the memory of a process.

#include "trust/secret.h"

#include <new>

#include <sodium.h>

#include "base/strong_hash.h"

namespace waybill {

void SecretDeleter::operator()(std::uint8_t* bytes) const noexcept {
  sodium_free(bytes);  // Wipes it first.
}

namespace envelope {

SecretBytes make_secret(std::size_t size) {
  base::start_sodium();
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
