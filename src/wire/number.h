#pragma once

// Numbers written to memory that is there. msgpack-c's packer asks for room for each
// and takes a branch for each length; here lengths are computed, so that lists of
// numbers of all lengths take no mispredicted branches. The tests compare the two.

#include <bit>
#include <cstdint>
#include <cstring>

#include "waybill/bytes.h"
#include "wire/lead.h"

namespace waybill::wire {

inline constexpr std::size_t kLongestNumber = 9;

// Writes `bits` after a first byte, and returns where they end.
inline std::uint8_t* put_word(std::uint8_t* at, std::uint8_t first, std::uint64_t bits,
                              std::size_t width) {
  at[0] = first;
  const std::uint64_t word = swapped(bits);
  std::memcpy(at + 1, &word, sizeof word);
  return at + 1 + width;
}

// Each writes a value in its shortest form (a float has one only) and returns where it
// ends. There must be room for the longest, whatever the value.
inline std::uint8_t* put_real(std::uint8_t* at, double value) {
  return put_word(at, 0xcb, std::bit_cast<std::uint64_t>(value), 8);
}

inline std::uint8_t* put_integer(std::uint8_t* at, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= -32 && value < 128) {  // fixint
    *at = static_cast<std::uint8_t>(bits);
    return at + 1;
  }
  // Unsigned forms are for what is not negative; a sign takes a bit of its own.
  const bool is_negative = value < 0;
  const int size =
      static_cast<int>(std::bit_width(is_negative ? ~bits : bits)) + is_negative;
  const int log = (size > 8) + (size > 16) + (size > 32);  // Of the width in bytes.
  const std::size_t width = std::size_t{1} << log;
  const auto first = static_cast<std::uint8_t>((is_negative ? 0xd0 : 0xcc) + log);
  return put_word(at, first, bits << (64 - 8 * width), width);
}

// Whether the bytes of ExtType::kInteger are sound: the shortest two's complement of a
// number beyond what msgpack's own integers hold.
inline bool is_big_integer(BytesView bytes) {
  if (bytes.size() < 9) return false;
  const bool has_mere_sign =
      (bytes[0] == 0x00 && bytes[1] < 0x80) || (bytes[0] == 0xff && bytes[1] >= 0x80);
  return !has_mere_sign && !(bytes.size() == 9 && bytes[0] == 0x00);
}

}  // namespace waybill::wire
