#pragma once

// Whether text is UTF-8. msgpack promises it of its str and checks nothing.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace waybill::wire {

enum class Surrogates : std::uint8_t { kRefused, kAllowed };

// Whether the rest of a text is UTF-8.
bool is_utf8_from(const std::uint8_t* at, std::size_t left, Surrogates surrogates);

// True for UTF-8 as Python's "utf-8" codec reads it: no overlong forms, nothing above
// U+10FFFF, and no surrogates, unless allowed (Python's "surrogatepass").
//
// ASCII, eight bytes at a time, is checked where this is called: nearly all text is.
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

// Whether a byte of UTF-8 belongs to the character before it.
constexpr bool continues_character(char byte) {
  return (static_cast<std::uint8_t>(byte) & 0xc0) == 0x80;
}

// Of a text that is UTF-8.
std::size_t count_characters(std::string_view text);

// How long the start of a text is that has at most so many bytes and cuts no character.
std::size_t size_of_start(std::string_view text, std::size_t most);

}  // namespace waybill::wire
