#pragma once

// Memory for secrets, and libsodium behind it.

#include <span>
#include <string_view>

#include "waybill/signature.h"

namespace waybill::envelope {

// `size` bytes of memory for a secret, to be filled and then closed. Throws
// std::bad_alloc.
SecretBytes make_secret(std::size_t size);

// From now on the memory can only be read.
void close_secret(const SecretBytes& bytes);

// Text in such memory.
struct SecretText {
  SecretBytes bytes;
  std::size_t size = 0;

  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.get()), size};
  }
};

}  // namespace waybill::envelope
