#pragma once

// Characters that must not reach a terminal: those that move its cursor, change its
// state, reverse the direction of text, or are invisible.

#include <cstddef>
#include <string>
#include <string_view>

namespace waybill::envelope {

// Decodes the first code point of `text`, which must not be empty. `length` becomes its
// size in bytes; 0 if the bytes are not UTF-8.
char32_t first_character(std::string_view text, std::size_t& length);

// True for lone surrogates too: no terminal can show them.
bool is_control(char32_t point);

// The text with control characters and invalid UTF-8 escaped.
std::string printable_text(std::string_view text);

}  // namespace waybill::envelope
