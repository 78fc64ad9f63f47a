#pragma once

// Outcomes of calls, as far as they need no Python; docs/calls.md describes them.

#include <cstdint>
#include <string_view>
#include <vector>

#include "waybill/error.h"

namespace waybill {

class SigningKey;

// The outcome of a call that was not made or did not finish; its sender gets a
// CallError. `code` is the reason in one word, such as "timed_out" or
// name_of(error.code), and `detail` is a sentence; invalid UTF-8 is reduced to ASCII
// and "?". `key` signs it; null: it is unsigned. Any Python reads it.
//
// Error: kLimitExceeded for text of 4 GiB.
[[nodiscard]] Result<std::vector<std::uint8_t>> failed_outcome(
    std::string_view code, std::string_view detail, const SigningKey* key = nullptr);

}  // namespace waybill
