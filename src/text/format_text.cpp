// Tested by tests/report/report_test.cpp.

#include "text/format_text.h"

namespace waybill {

std::string format_arguments(fmt::string_view text, fmt::format_args arguments) {
  return fmt::vformat(text, arguments);
}

}  // namespace waybill
