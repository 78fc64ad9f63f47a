#pragma once

// Whether text is UTF-8. msgpack promises it of its str and checks nothing.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace waybill::wire {

enum class Surrogates : std::uint8_t { kRefused, kAllowed };

// True for UTF-8 as Python's "utf-8" codec reads it: no overlong forms, nothing above
// U+10FFFF, and no surrogates, unless allowed (Python's "surrogatepass").
bool is_utf8(std::string_view text, Surrogates surrogates = Surrogates::kRefused);

// How long the start of a text is that has at most so many bytes and cuts no character.
std::size_t size_of_start(std::string_view text, std::size_t most);

}  // namespace waybill::wire
