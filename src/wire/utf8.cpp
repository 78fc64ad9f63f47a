// Checks UTF-8 beyond ASCII: one character at a time, and eight bytes where all are
// ASCII. Tested by tests/wire/utf8_test.cpp.

#include "wire/utf8.h"

#include <algorithm>
#include <cstring>

namespace waybill::wire {
namespace {

// The length of the character at `at`, with `left` bytes available; 0 if it is invalid.
std::size_t character_length(const std::uint8_t* at, std::size_t left,
                             Surrogates surrogates) {
  const std::uint8_t first = at[0];
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2   ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > left) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  const bool is_overlong =
      (first == 0xe0 && at[1] < 0xa0) || (first == 0xf0 && at[1] < 0x90);
  const bool is_too_large = first == 0xf4 && at[1] >= 0x90;
  const bool is_surrogate = first == 0xed && at[1] >= 0xa0;
  if (is_overlong || is_too_large) return 0;
  if (is_surrogate && surrogates == Surrogates::kRefused) return 0;
  return length;
}

}  // namespace

bool is_utf8_from(const std::uint8_t* at, std::size_t left, Surrogates surrogates) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  while (left != 0) {
    std::uint64_t word;
    if (left >= sizeof word) {
      std::memcpy(&word, at, sizeof word);
      if ((word & kHighBits) == 0) {
        at += sizeof word;
        left -= sizeof word;
        continue;
      }
    }
    const std::size_t length = character_length(at, left, surrogates);
    if (length == 0) return false;
    at += length;
    left -= length;
  }
  return true;
}

std::size_t count_characters(std::string_view text) {
  return text.size() -
         static_cast<std::size_t>(std::ranges::count_if(text, continues_character));
}

std::size_t prefix_size(std::string_view text, std::size_t max_size) {
  if (text.size() <= max_size) return text.size();
  std::size_t end = max_size;
  while (end != 0 && continues_character(text[end])) --end;
  return end;
}

}  // namespace waybill::wire
