#pragma once

// XXH3 behind two functions. No cryptography: a digest finds accidents, a content hash
// finds equal code; neither stops somebody who wants to deceive.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "waybill/error.h"

namespace waybill::base {

// 64 bits, in xxHash's canonical (big-endian) order.
inline std::array<std::uint8_t, 8> digest_of(BytesView bytes) {
  XXH64_canonical_t canonical;
  XXH64_canonicalFromHash(&canonical, XXH3_64bits(bytes.data(), bytes.size()));
  return std::to_array(canonical.digest);
}

// The same of bytes that come one part after the other.
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

// The same as a number of this machine, for tables in memory.
inline std::uint64_t hash_of(BytesView bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// 128 bits, likewise.
inline std::array<std::uint8_t, 16> content_hash_of(BytesView bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return std::to_array(canonical.digest);
}

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
