#pragma once

// The first byte of a msgpack value, its lead byte, decides everything but a length
// that follows. A table of 256 rows gives the size of a value's head and the unit that
// its length counts.

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace waybill::wire {

enum class Counts : std::uint8_t { kNothing, kBytes, kItems, kPairs, kInvalid };

// How a value starts. Its head is `head` bytes long (for kNothing, the whole value). A
// length of `width` bytes follows the lead byte, or is `inlined` in it.
struct Lead {
  std::uint8_t head = 1;
  std::uint8_t width = 0;
  std::uint8_t inlined = 0;
  Counts counts = Counts::kNothing;
};

constexpr std::array<Lead, 256> make_leads() {
  std::array<Lead, 256> leads{};
  const auto low = [](int byte, int mask) {
    return static_cast<std::uint8_t>(byte & mask);
  };
  for (int i = 0x80; i < 0x90; ++i) leads[i] = {1, 0, low(i, 0x0f), Counts::kPairs};
  for (int i = 0x90; i < 0xa0; ++i) leads[i] = {1, 0, low(i, 0x0f), Counts::kItems};
  for (int i = 0xa0; i < 0xc0; ++i) leads[i] = {1, 0, low(i, 0x1f), Counts::kBytes};
  leads[0xc1].counts = Counts::kInvalid;
  for (int i = 0; i < 3; ++i) {
    const auto width = static_cast<std::uint8_t>(1 << i);
    const auto plain = static_cast<std::uint8_t>(1 + width);
    const auto typed = static_cast<std::uint8_t>(2 + width);
    leads[0xc4 + i] = {plain, width, 0, Counts::kBytes};  // bin
    leads[0xc7 + i] = {typed, width, 0, Counts::kBytes};  // ext
    leads[0xd9 + i] = {plain, width, 0, Counts::kBytes};  // str
  }
  leads[0xca].head = 5;
  leads[0xcb].head = 9;
  for (int i = 0; i < 4; ++i) {
    leads[0xcc + i].head = leads[0xd0 + i].head =
        static_cast<std::uint8_t>(1 + (1 << i));
  }
  for (int i = 0; i < 5; ++i) {  // fixext
    leads[0xd4 + i] = {2, 0, static_cast<std::uint8_t>(1 << i), Counts::kBytes};
  }
  leads[0xdc] = {3, 2, 0, Counts::kItems};
  leads[0xdd] = {5, 4, 0, Counts::kItems};
  leads[0xde] = {3, 2, 0, Counts::kPairs};
  leads[0xdf] = {5, 4, 0, Counts::kPairs};
  return leads;
}

inline constexpr std::array<Lead, 256> kLeads = make_leads();

// One-byte values that readers compare directly.
inline constexpr std::uint8_t kEmptyMap = 0x80;
inline constexpr std::uint8_t kEmptyArray = 0x90;
inline constexpr std::uint8_t kNilByte = 0xc0;
inline constexpr std::uint8_t kFalseByte = 0xc2;  // True is the next number.

// Converts between big-endian and native order.
inline std::uint64_t swapped(std::uint64_t value) {
  return std::endian::native == std::endian::big ? value : __builtin_bswap64(value);
}

inline std::uint64_t read_big_endian(const std::uint8_t* bytes, std::size_t width) {
  if (width == 8) {
    std::uint64_t value;
    std::memcpy(&value, bytes, sizeof value);
    return swapped(value);
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value = value << 8 | bytes[i];
  return value;
}

// Whether the lead byte announces an integer of 1, 2, 4 or 8 bytes.
inline bool is_wide_integer(std::uint8_t first) {
  return first >= 0xcc && first <= 0xd3;
}

// Reads an integer of 1, 2, 4 or 8 bytes from the value at `at`, where nine bytes must
// be readable whatever its length. False if it is beyond std::int64_t.
inline bool read_wide_integer(const std::uint8_t* at, std::int64_t& value) {
  const std::uint64_t word = read_big_endian(at + 1, 8);
  const int unused = 64 - (8 << (*at & 3));
  if (*at >= 0xd0) {
    value = static_cast<std::int64_t>(word) >> unused;
    return true;
  }
  value = static_cast<std::int64_t>(word >> unused);
  return value >= 0;
}

inline std::uint64_t length_of(const Lead& lead, const std::uint8_t* at) {
  return lead.width == 0 ? lead.inlined : read_big_endian(at + 1, lead.width);
}

}  // namespace waybill::wire
