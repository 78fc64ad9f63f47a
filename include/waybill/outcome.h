#pragma once

// Outcomes of calls, as far as they need no Python. What is in one tells docs/calls.md.

#include <cstdint>
#include <string_view>
#include <vector>

#include "waybill/error.h"

namespace waybill {

class SigningKey;

// The outcome of a call that was not made, or did not come to an end: who sent it gets
// a CallError. `code` names why in one word, such as "timed_out" or name_of() an
// error's code, `detail` in a sentence; in text that is no UTF-8 "?" stands for all but
// ASCII. `key` signs it; null: nobody does. Any Python reads it.
//
// Error: kLimitExceeded for text of 4 GiB.
[[nodiscard]] Result<std::vector<std::uint8_t>> failed_outcome(
    std::string_view code, std::string_view detail, const SigningKey* key = nullptr);

}  // namespace waybill
