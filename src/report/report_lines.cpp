// Tested by tests/report/report_test.cpp.

#include "report/report_lines.h"

#include "text/format_text.h"
#include "waybill/report.h"

namespace waybill::envelope {

std::string Paint::wrap(const char* code, std::string_view text) const {
  return on_ ? format_text("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string text_of(Json model, const char* key) {
  const auto found = model.find(key);
  return found && found->is_text() ? printable(found->text()) : "";
}

std::uint64_t number_of(Json model, const char* key) {
  const auto found = model.find(key);
  return found && found->is_number() ? found->unsigned_integer() : 0;
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return format_text("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace waybill::envelope
