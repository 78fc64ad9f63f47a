#pragma once

// BLAKE2b of libsodium: nobody finds other bytes with the same hash. Slower than what
// base/hash.h has.

#include <array>
#include <cstddef>
#include <cstdint>

#include "waybill/bytes.h"

namespace waybill::base {

// Starts libsodium unless that was done; thread-safe. Called by all that needs it.
// Throws std::runtime_error if it cannot start.
void start_sodium();

// 256 bits, without a key.
std::array<std::uint8_t, 32> strong_hash_of(BytesView bytes);

// The same of bytes that come one part after the other.
class StrongHashStream {
 public:
  StrongHashStream();

  void add(BytesView bytes);
  // Nothing is added after this.
  std::array<std::uint8_t, 32> hash();

 private:
  alignas(64) std::byte state_[384];  // libsodium's.
};

}  // namespace waybill::base
