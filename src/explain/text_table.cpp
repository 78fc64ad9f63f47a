// Tested by tests/explain/explanation_text_test.cpp.

#include "explain/text_table.h"

#include <algorithm>

#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

// The offset of the character with this number.
std::size_t offset_of(std::string_view text, std::size_t number) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!wire::continues_character(text[at]) && number-- == 0) break;
  }
  return at;
}

}  // namespace

std::size_t width_of(std::string_view text) { return wire::count_characters(text); }

std::string middle_cut(std::string_view text, std::size_t width) {
  const std::size_t whole = width_of(text);
  if (whole <= width) return std::string(text);
  if (width == 0) return {};
  const std::size_t start = (width - 1) / 2;
  const std::size_t end = width - 1 - start;
  return std::string(text.substr(0, offset_of(text, start))) + "…" +
         std::string(text.substr(offset_of(text, whole - end)));
}

std::string padded_to(std::string text, std::size_t width) {
  text.append(width - std::min(width, width_of(text)), ' ');
  return text;
}

}  // namespace waybill::envelope
