// Formats sizes for people. The script of the page implements the same rule (sizeText
// in page/model.js), and Python calls this function.
// Tested by tests/explain/explanation_text_test.cpp.

#include <array>
#include <string_view>

#include "text/format_text.h"
#include "waybill/explanation.h"

namespace waybill {

std::string size_text(std::uint64_t bytes) {
  constexpr auto kUnits =
      std::to_array<std::string_view>({"kB", "MB", "GB", "TB", "PB", "EB"});
  if (bytes < 1000) return format_text("{} B", bytes);
  double size = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  // 999.96 would be shown as 1000.0.
  for (; size >= 999.95 && unit + 1 < kUnits.size(); ++unit) size /= 1000;
  return format_text("{:.1f} {}", size, kUnits[unit]);
}

}  // namespace waybill
