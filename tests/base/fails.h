#pragma once

// EXPECT_THAT(open(bytes), Fails(ErrorCode::kMalformed, 7)): a Result that is an error
// of this code, with this offset and detail, which may be matchers; `_` matches any.

#include <gmock/gmock.h>

#include <cstdint>
#include <string>

#include "waybill/error.h"

namespace waybill {

MATCHER_P3(FailsWith, code, offset, detail,
           "is an error " + std::string(name_of(code))) {
  if (arg) {
    *result_listener << "which is no error";
    return false;
  }
  *result_listener << "which is " << to_string(arg.error()) << " ";
  return arg.error().code == code &&
         testing::ExplainMatchResult(offset, arg.error().offset, result_listener) &&
         testing::ExplainMatchResult(detail, arg.error().detail, result_listener);
}

inline auto Fails(ErrorCode code,
                  const testing::Matcher<std::uint64_t>& offset = testing::_,
                  const testing::Matcher<std::string>& detail = testing::_) {
  return FailsWith(code, offset, detail);
}

}  // namespace waybill
