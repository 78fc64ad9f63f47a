#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace waybill {

// Limits for hostile input. Counts in the input are compared with the bytes left before
// anything is reserved, whatever the limits.
struct Limits {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // Bytes of one envelope with its stored buffers decompressed. Stops a sender from
  // filling memory with input alone; files of arrays may be larger than memory.
  std::size_t max_bytes = std::size_t{1} << 40;

  // Values of the payload, keys and items included; the rest of the envelope is counted
  // by itself. A value may take one byte on the wire and a hundred as an object: this
  // bounds the ratio.
  std::size_t max_values = std::size_t{1} << 31;

  // Nesting of containers. The library does not recurse, so depth costs heap, not
  // stack. The limit rejects input that consists of opening brackets only, on which
  // other programs may crash.
  std::size_t max_depth = std::size_t{1} << 26;

  // The next five apply to the values of the payload and the constants of code, which
  // verify() counts together. Everything else – names in code and manifest,
  // instructions, debug information – is at most copied, instructions with up to ten
  // zeros for each of their bytes, so max_bytes bounds it.

  // Bytes of one text or binary.
  std::size_t max_text = kNone;

  // Bytes of one int. Division, printing and more take quadratic time.
  std::size_t max_integer = kNone;

  // Items of one container; pairs of one map.
  std::size_t max_items = kNone;

  // Memory to build this data, as verify() estimates it: not less than CPython takes on
  // a 64-bit machine. Allocations of code and reducers of the payload are not included.
  std::size_t max_memory = kNone;

  // Values after unfolding: an object that is referenced ten times counts eleven times,
  // with everything in it. It is one object in memory, but printing, comparing or
  // copying the payload visits it each time ("billion laughs"). A reference to an
  // enclosing container, a cycle, counts as one; text as one plus one for every 16
  // bytes; a range also as many as it has ints, and as infinite if its bounds have more
  // than 128 bits.
  std::size_t max_unfolded = kNone;

  // Steps of hashing and comparing keys and set items beyond 256 for each. Tuples that
  // share parts can take exponential time to hash, and keys can be chosen to collide.
  // Collisions are counted, and NaN is refused as a key, only if the limit is below its
  // default, because these checks take time for each key.
  std::size_t max_key_steps = std::size_t{1} << 32;

  friend bool operator==(const Limits&, const Limits&) = default;
};

// For untrusted input; the default wherever no code is admitted. Messages rarely have
// 64 MiB of input or 1 GiB of objects, and input below that is handled in seconds at
// most.
inline constexpr Limits kStrictLimits = {
    .max_bytes = std::size_t{1} << 26,
    .max_values = std::size_t{1} << 24,
    .max_depth = 512,
    .max_text = std::size_t{1} << 26,
    .max_integer = std::size_t{1} << 11,
    .max_items = std::size_t{1} << 24,
    .max_memory = std::size_t{1} << 30,
    .max_unfolded = std::size_t{1} << 26,
    .max_key_steps = std::size_t{1} << 17,
};

// The lower value of each limit.
constexpr Limits stricter(const Limits& a, const Limits& b) {
  return {.max_bytes = std::min(a.max_bytes, b.max_bytes),
          .max_values = std::min(a.max_values, b.max_values),
          .max_depth = std::min(a.max_depth, b.max_depth),
          .max_text = std::min(a.max_text, b.max_text),
          .max_integer = std::min(a.max_integer, b.max_integer),
          .max_items = std::min(a.max_items, b.max_items),
          .max_memory = std::min(a.max_memory, b.max_memory),
          .max_unfolded = std::min(a.max_unfolded, b.max_unfolded),
          .max_key_steps = std::min(a.max_key_steps, b.max_key_steps)};
}

}  // namespace waybill
