// The names of error codes, and errors as text.
// Tested by tests/base/error_codes_test.cpp.

#include "waybill/error.h"

namespace waybill {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kTruncated:
      return "truncated";
    case ErrorCode::kNotAnEnvelope:
      return "not_an_envelope";
    case ErrorCode::kUnknownFormat:
      return "unknown_format";
    case ErrorCode::kMalformed:
      return "malformed";
    case ErrorCode::kTrailingBytes:
      return "trailing_bytes";
    case ErrorCode::kDigestMismatch:
      return "digest_mismatch";
    case ErrorCode::kUnknownTag:
      return "unknown_tag";
    case ErrorCode::kBadReference:
      return "bad_reference";
    case ErrorCode::kLimitExceeded:
      return "limit_exceeded";
    case ErrorCode::kUndeclared:
      return "undeclared";
    case ErrorCode::kPythonMismatch:
      return "python_mismatch";
    case ErrorCode::kRefused:
      return "refused";
    case ErrorCode::kBadSignature:
      return "bad_signature";
    case ErrorCode::kBadKey:
      return "bad_key";
    case ErrorCode::kRaised:
      return "raised";
  }
  return "unknown";
}

std::string to_string(const Error& error) {
  std::string text(name_of(error.code));
  // A key stands in no envelope: its detail names file and line.
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
