// Tested by tests/envelope/report_test.cpp and tests/envelope/value_json_test.cpp.

#include "envelope/control_characters.h"

#include <algorithm>
#include <cstdint>

namespace waybill::envelope {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr Range kControls[] = {
    {0x00, 0x1f},      // C0
    {0x7f, 0x9f},      // Delete, C1
    {0x61c, 0x61c},    // Arabic letter mark
    {0x200e, 0x200f},  // Marks of direction
    {0x2028, 0x202e},  // Separators of lines; embeddings and overrides
    {0x2066, 0x2069},  // Isolates
    {0xd800, 0xdfff},  // Surrogates
};

}  // namespace

char32_t first_character(std::string_view text, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  length = first < 0x80   ? 1
           : first < 0xc2 ? 0
           : first < 0xe0 ? 2
           : first < 0xf0 ? 3
           : first < 0xf5 ? 4
                          : 0;
  if (length > text.size()) length = 0;
  if (length < 2) return first;
  char32_t point = first & (0x7f >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) length = 0;
    if (length == 0) return first;
    point = point << 6 | (byte(i) & 0x3f);
  }
  return point;
}

bool is_control(char32_t point) {
  if (point >= 0x20 && point < 0x7f) return false;  // As nearly all are.
  return std::ranges::any_of(kControls, [&](const Range& range) {
    return range.first <= point && point <= range.last;
  });
}

}  // namespace waybill::envelope
