#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace waybill {

// Ceilings for input that may be hostile. A count in the input is compared with
// the bytes that are left before anything is reserved, whatever the ceilings.
struct Limits {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  // Bytes of one envelope with its stored buffers, which count as they are when they
  // are decompressed. Stops a sender from filling memory with input alone; files of
  // arrays may be larger than memory.
  std::size_t max_bytes = std::size_t{1} << 40;

  // Values in one envelope, each key and item counted. A value may cost a byte on
  // the wire and a hundred as an object: this bounds the ratio.
  std::size_t max_values = std::size_t{1} << 31;

  // Containers inside containers. Nothing here recurses, so depth costs heap, not
  // stack; the ceiling stops input that is all opening brackets, which other programs
  // may not survive.
  std::size_t max_depth = std::size_t{1} << 26;

  // The next five hold for the values of the payload and the constants of code, which
  // verify() counts together. What stands beside them – names in code and manifest,
  // instructions, debug information – is copied at most, so that max_bytes bounds it.

  // Bytes of one text or binary.
  std::size_t max_text = kNone;

  // Bytes of one int. Division, printing and more take time by the square of it.
  std::size_t max_integer = kNone;

  // Items of one container; pairs of one map.
  std::size_t max_items = kNone;

  // Bytes that building this data may take, as verify() estimates them: not
  // less than what CPython takes on a 64-bit machine. What code and reducers of the
  // payload allocate is not data.
  std::size_t max_memory = kNone;

  // Values as a program meets them that follows each reference: an object that is
  // referred to ten times counts eleven times, with all it holds. In memory it is one,
  // but whoever prints, compares or copies the payload goes that way ("billion
  // laughs"). A reference to a container that is still open, a cycle, counts as one;
  // text as one for every 16 bytes, and one; a range also as many as it has ints, and
  // without end if its bounds have more than 128 bits.
  std::size_t max_unfolded = kNone;

  // Steps that hashing and comparing keys and set items may take beyond 256 for
  // each. Tuples that share parts can take exponential time to be hashed, and keys can
  // be chosen so that they all collide. Collisions are counted, and NaN is refused as a
  // key, only where this is below the default: that takes time for each key.
  std::size_t max_key_steps = std::size_t{1} << 32;

  friend bool operator==(const Limits&, const Limits&) = default;
};

// For input from strangers; the default wherever no code is let in. 64 MiB of input and
// 1 GiB of objects are more than messages have, and what stays below is dealt with in
// seconds at most.
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

// The lower of the two, ceiling by ceiling.
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
