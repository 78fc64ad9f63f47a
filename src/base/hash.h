#pragma once

// XXH3 and BLAKE2b. XXH3 is fast and not cryptographic: a digest finds accidental
// damage, a content hash finds equal code, and an attacker can forge both. BLAKE2b
// (libsodium) is slower; finding other bytes with the same hash is infeasible.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "waybill/error.h"

namespace waybill::base {

// The 64-bit XXH3 in canonical (big-endian) order.
inline std::array<std::uint8_t, 8> digest_of(BytesView bytes) {
  XXH64_canonical_t canonical;
  XXH64_canonicalFromHash(&canonical, XXH3_64bits(bytes.data(), bytes.size()));
  return std::to_array(canonical.digest);
}

// The incremental form of digest_of().
class DigestStream {
 public:
  DigestStream() { XXH3_64bits_reset(&state_); }

  void add(BytesView bytes) { XXH3_64bits_update(&state_, bytes.data(), bytes.size()); }
  std::array<std::uint8_t, 8> digest() const {
    XXH64_canonical_t canonical;
    XXH64_canonicalFromHash(&canonical, XXH3_64bits_digest(&state_));
    return std::to_array(canonical.digest);
  }

 private:
  XXH3_state_t state_;
};

// The 64-bit XXH3 as a number in native order, for tables in memory.
inline std::uint64_t hash_of(BytesView bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// The 128-bit XXH3 in canonical order.
inline std::array<std::uint8_t, 16> content_hash_of(BytesView bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return std::to_array(canonical.digest);
}

// Initializes libsodium, once per process. Thread-safe. Every user of libsodium calls
// it. Throws std::runtime_error on failure.
void start_sodium();

// The unkeyed BLAKE2b-256.
class StrongHashStream {
 public:
  StrongHashStream();

  void add(BytesView bytes);
  // The hash of all bytes added. Call once, and add nothing afterwards.
  std::array<std::uint8_t, 32> hash();

 private:
  alignas(64) std::byte state_[384];  // crypto_generichash_state
};

}  // namespace waybill::base
