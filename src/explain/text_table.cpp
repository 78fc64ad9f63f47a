// Tested by tests/explain/explanation_text_test.cpp.

#include "explain/text_table.h"

#include <algorithm>
#include <array>

#include "text/format_text.h"

namespace waybill::envelope {
namespace {

bool is_start(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// Where the character with this number starts.
std::size_t place_of(std::string_view text, std::size_t number) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (is_start(text[at]) && number-- == 0) break;
  }
  return at;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, is_start));
}

std::string middle_cut(std::string_view text, std::size_t width) {
  const std::size_t whole = width_of(text);
  if (whole <= width) return std::string(text);
  if (width == 0) return {};
  const std::size_t start = (width - 1) / 2;
  const std::size_t end = width - 1 - start;
  return std::string(text.substr(0, place_of(text, start))) + "…" +
         std::string(text.substr(place_of(text, whole - end)));
}

std::string filled(std::string text, std::size_t width) {
  text.append(width - std::min(width, width_of(text)), ' ');
  return text;
}

std::string size_text(std::uint64_t bytes) {
  constexpr auto kUnits = std::to_array<std::string_view>({"kB", "MB", "GB"});
  if (bytes < 1000) return format_text("{} B", bytes);
  double size = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  // 999.96 would be shown as 1000.0.
  for (; size >= 999.95 && unit + 1 < kUnits.size(); ++unit) size /= 1000;
  return format_text("{:.1f} {}", size, kUnits[unit]);
}

}  // namespace waybill::envelope
