// Tested by tests/report/report_test.cpp and tests/values/value_json_test.cpp.

#include "text/control_characters.h"

#include <algorithm>
#include <cstdint>

#include "text/format_text.h"

namespace waybill::envelope {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// From Unicode 15.1: the categories Cc, Cf, Cs, Zl and Zp (UnicodeData.txt), and
// Default_Ignorable_Code_Point (DerivedCoreProperties.txt), which reserves ranges for
// future characters. tests/cli/test_invisible.py compares them with Python's.
constexpr Range kControls[] = {
    {0x00, 0x1f},        // C0
    {0x7f, 0x9f},        // Delete, C1
    {0xad, 0xad},        // Soft hyphen
    {0x34f, 0x34f},      // Combining grapheme joiner
    {0x600, 0x605},      // Arabic number signs
    {0x61c, 0x61c},      // Arabic letter mark
    {0x6dd, 0x6dd},      // Arabic end of ayah
    {0x70f, 0x70f},      // Syriac abbreviation mark
    {0x890, 0x891},      // Arabic currency marks
    {0x8e2, 0x8e2},      // Arabic disputed end of ayah
    {0x115f, 0x1160},    // Hangul fillers
    {0x17b4, 0x17b5},    // Invisible Khmer vowels
    {0x180b, 0x180f},    // Mongolian variation selectors
    {0x200b, 0x200f},    // Zero-width spaces and joiners, direction marks
    {0x2028, 0x202e},    // Line separators, embeddings, overrides
    {0x2060, 0x206f},    // Word joiner, invisible operators, isolates
    {0x3164, 0x3164},    // Hangul filler
    {0xd800, 0xdfff},    // Surrogates
    {0xfe00, 0xfe0f},    // Variation selectors
    {0xfeff, 0xfeff},    // Byte order mark
    {0xffa0, 0xffa0},    // Halfwidth Hangul filler
    {0xfff0, 0xfffb},    // Unassigned; interlinear annotations
    {0x110bd, 0x110bd},  // Kaithi number signs
    {0x110cd, 0x110cd}, {0x13430, 0x1343f},  // Hieroglyph joiners
    {0x1bca0, 0x1bca3},                      // Shorthand format controls
    {0x1d173, 0x1d17a},                      // Musical format controls
    {0xe0000, 0xe0fff},                      // Tags, variation selectors
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
  if (point >= 0x20 && point < 0x7f) return false;  // The common case.
  return std::ranges::any_of(kControls, [&](const Range& range) {
    return range.first <= point && point <= range.last;
  });
}

std::string printable_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 0;
    const char32_t point = first_character(text.substr(at), length);
    if (length == 0) {
      out += format_text("\\x{:02x}", static_cast<std::uint8_t>(text[at]));
      length = 1;
    } else if (is_control(point)) {
      const auto number = static_cast<std::uint32_t>(point);
      out += point < 0x100     ? format_text("\\x{:02x}", number)
             : point < 0x10000 ? format_text("\\u{:04x}", number)
                               : format_text("\\U{:08x}", number);
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  return out;
}

}  // namespace waybill::envelope
