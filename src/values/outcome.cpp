// Tested by tests/values/outcome_test.cpp.

#include "waybill/outcome.h"

#include <algorithm>
#include <string>

#include "waybill/value.h"
#include "wire/utf8.h"

namespace waybill {
namespace {

// Whatever stood in a detail, its reader should get the rest.
std::string as_text(std::string_view text) {
  std::string result(text);
  if (wire::is_utf8(text, wire::Surrogates::kAllowed)) return result;
  std::ranges::replace_if(
      result, [](char letter) { return static_cast<unsigned char>(letter) >= 0x80; },
      '?');
  return result;
}

}  // namespace

Result<std::vector<std::uint8_t>> failed_outcome(std::string_view code,
                                                 std::string_view detail,
                                                 const SigningKey* key) {
  using data::Map;
  return write_value(
      Map{{"failed", Map{{"code", as_text(code)}, {"detail", as_text(detail)}}}},
      {.key = key});
}

}  // namespace waybill
