// Tested by tests/report/report_test.cpp.

#include "report/report_lines.h"

#include "text/format_text.h"
#include "waybill/report.h"

namespace waybill::envelope {

std::string Paint::wrap(const char* code, std::string_view text) const {
  return on_ ? format_text("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string text_of(const Json& model, const char* key) {
  const auto found = model.find(key);
  if (found == model.end() || !found->is_string()) return {};
  return printable(found->get_ref<const std::string&>());
}

std::uint64_t number_of(const Json& model, const char* key) {
  const auto found = model.find(key);
  return found == model.end() || !found->is_number() ? 0 : found->get<std::uint64_t>();
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return format_text("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace waybill::envelope
