#pragma once

// Text in bytes, and checks of UTF-8. msgpack requires UTF-8 of its str, and readers do
// not check it.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "waybill/bytes.h"

namespace waybill::wire {

// A view of the same bytes, whether they are UTF-8 or not.
inline std::string_view as_text(BytesView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

enum class Surrogates : std::uint8_t { kRefused, kAllowed };

// Whether `left` bytes at `at` are UTF-8; the part of is_utf8() that is not inlined.
bool is_utf8_from(const std::uint8_t* at, std::size_t left, Surrogates surrogates);

// True for UTF-8 as Python's "utf-8" codec reads it: no overlong forms, nothing above
// U+10FFFF, and no surrogates, unless allowed (Python's "surrogatepass").
//
// ASCII is checked inline, eight bytes at a time, since nearly all text is ASCII.
inline bool is_utf8(std::string_view text,
                    Surrogates surrogates = Surrogates::kRefused) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  const auto* at = reinterpret_cast<const std::uint8_t*>(text.data());
  std::size_t left = text.size();
  for (std::uint64_t word; left >= sizeof word;
       at += sizeof word, left -= sizeof word) {
    std::memcpy(&word, at, sizeof word);
    if ((word & kHighBits) != 0) return is_utf8_from(at, left, surrogates);
  }
  std::uint8_t seen = 0;
  for (std::size_t i = 0; i < left; ++i) seen |= at[i];
  return seen < 0x80 || is_utf8_from(at, left, surrogates);
}

// Whether a byte of UTF-8 continues a character.
constexpr bool continues_character(char byte) {
  return (static_cast<std::uint8_t>(byte) & 0xc0) == 0x80;
}

// The number of code points of valid UTF-8.
std::size_t count_characters(std::string_view text);

// The length of the longest prefix of at most `max_size` bytes that cuts no character.
std::size_t prefix_size(std::string_view text, std::size_t max_size);

}  // namespace waybill::wire
