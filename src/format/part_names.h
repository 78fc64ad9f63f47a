#pragma once

// What the parts of nodes are called: in paths of a diff, and in outlines.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace waybill::envelope {

// The value at `position` behind the node's tag: "namespace" of a function's second.
// Empty if it has no name: items of a tuple, what is unknown here.
std::string_view part_name(std::uint8_t tag, std::size_t position);

// Of a wire::FunctionField: "defaults". Empty if it is unknown here.
std::string_view function_field_name(std::uint64_t field);

}  // namespace waybill::envelope
