#pragma once

// What text must not bring to a terminal: characters that move its cursor, change it,
// turn the direction of the text around them, or are not seen at all.

#include <cstddef>
#include <string>
#include <string_view>

namespace waybill::envelope {

// The code point that starts `text`, which is not empty, and how many bytes it takes; 0
// where they make none.
char32_t first_character(std::string_view text, std::size_t& length);

// Lone surrogates count as such: no terminal knows them.
bool is_control(char32_t point);

// The text with control characters, and bytes that are no UTF-8, escaped.
std::string printable_text(std::string_view text);

}  // namespace waybill::envelope
