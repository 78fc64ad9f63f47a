// The names of error codes, and errors as text.
// Tested by tests/base/error_codes_test.cpp.

#include "waybill/error.h"

#include <iterator>

namespace waybill {

std::string_view name_of(ErrorCode code) {
  constexpr std::string_view kNames[] = {
      "truncated",      "not_an_envelope", "unknown_format",  "malformed",
      "trailing_bytes", "digest_mismatch", "unknown_tag",     "bad_reference",
      "limit_exceeded", "undeclared",      "python_mismatch", "refused",
      "bad_signature",  "bad_key",         "raised"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(ErrorCode::kRaised) + 1);
  return kNames[static_cast<std::size_t>(code)];
}

std::string to_string(const Error& error) {
  std::string text(name_of(error.code));
  // A key is not part of an envelope; its detail names file and line.
  if (error.code != ErrorCode::kBadKey) {
    text += " at byte ";
    text += std::to_string(error.offset);
  }
  if (!error.detail.empty()) {
    text += ": ";
    text += error.detail;
  }
  return text;
}

}  // namespace waybill
