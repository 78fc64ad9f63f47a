#pragma once

// JSON text for terminals.

#include <string>

namespace waybill::envelope {

// The JSON with characters escaped that would move a terminal's cursor or turn the
// direction of text, or are not seen, which JSON lets pass; with colours if they are
// asked for. Makes no copy where nothing is to do.
std::string painted(std::string json, bool colours);

// A character as JSON escapes it: one that is beyond 16 bits as two surrogates.
std::string json_escape(char32_t point);

}  // namespace waybill::envelope
