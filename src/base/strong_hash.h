#pragma once

// BLAKE2b of libsodium: nobody finds other bytes with the same hash. Slower than what
// base/hash.h has.

#include <array>
#include <cstdint>

#include "waybill/bytes.h"

namespace waybill::base {

// Starts libsodium unless that was done; thread-safe. Called by all that needs it.
// Throws std::runtime_error if it cannot start.
void start_sodium();

// 256 bits, without a key.
std::array<std::uint8_t, 32> strong_hash_of(BytesView bytes);

}  // namespace waybill::base
