#pragma once

// Text in columns that end where a terminal does.

#include <cstddef>
#include <string>
#include <string_view>

namespace waybill::envelope {

// Characters of a text that is UTF-8.
std::size_t width_of(std::string_view text);

// The text, or its start and its end around a "…", in so many characters.
std::string middle_cut(std::string_view text, std::size_t width);

// With blanks behind it up to this width.
std::string filled(std::string text, std::size_t width);

}  // namespace waybill::envelope
