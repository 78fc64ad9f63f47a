#pragma once

// Writes numbers to reserved memory. msgpack-c's packer reserves memory for each and
// branches on each length. Here lengths are computed, so lists of numbers of all
// lengths cause no mispredicted branches. Tests compare the bytes with msgpack-c's.

#include <bit>
#include <cstdint>
#include <cstring>

#include "waybill/bytes.h"
#include "wire/lead.h"

namespace waybill::wire {

inline constexpr std::size_t kMaxNumberSize = 9;

// Writes a lead byte and `width` bytes of `bits`, and returns the end.
inline std::uint8_t* put_scalar(std::uint8_t* at, std::uint8_t first,
                                std::uint64_t bits, std::size_t width) {
  at[0] = first;
  const std::uint64_t word = swapped(bits);
  std::memcpy(at + 1, &word, sizeof word);
  return at + 1 + width;
}

// Each writes a value in its shortest form (a float has only one) and returns the end.
// The memory must have kMaxNumberSize bytes, whatever the value.
inline std::uint8_t* put_real(std::uint8_t* at, double value) {
  return put_scalar(at, 0xcb, std::bit_cast<std::uint64_t>(value), 8);
}

inline std::uint8_t* put_integer(std::uint8_t* at, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= -32 && value < 128) {  // fixint
    *at = static_cast<std::uint8_t>(bits);
    return at + 1;
  }
  // Unsigned forms hold nonnegative values; signed forms need a sign bit.
  const bool is_negative = value < 0;
  const int size =
      static_cast<int>(std::bit_width(is_negative ? ~bits : bits)) + is_negative;
  // The logarithm of the width.
  const int log = (size > 8) + (size > 16) + (size > 32);
  const std::size_t width = std::size_t{1} << log;
  const auto first = static_cast<std::uint8_t>((is_negative ? 0xd0 : 0xcc) + log);
  return put_scalar(at, first, bits << (64 - 8 * width), width);
}

// Whether the bytes of an ExtType::kInteger are valid: the shortest two's complement of
// a number beyond msgpack's own integers.
inline bool is_big_integer(BytesView bytes) {
  if (bytes.size() < 9) return false;
  const bool has_redundant_sign =
      (bytes[0] == 0x00 && bytes[1] < 0x80) || (bytes[0] == 0xff && bytes[1] >= 0x80);
  return !has_redundant_sign && !(bytes.size() == 9 && bytes[0] == 0x00);
}

}  // namespace waybill::wire
