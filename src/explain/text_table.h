#pragma once

// Text in columns that fit the width of a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace waybill::envelope {

// The number of characters in a UTF-8 text.
std::size_t width_of(std::string_view text);

// The text cut to `width` characters: its start, "…", and its end.
std::string middle_cut(std::string_view text, std::size_t width);

// The text padded with spaces to this width.
std::string padded_to(std::string text, std::size_t width);

}  // namespace waybill::envelope
