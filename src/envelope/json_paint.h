#pragma once

// JSON text for terminals.

#include <string>
#include <string_view>

namespace waybill::envelope {

// The JSON with characters escaped that would move a terminal's cursor or turn the
// direction of text, which JSON lets pass; with colours if they are asked for.
std::string painted(std::string_view json, bool colours);

}  // namespace waybill::envelope
