#pragma once

// Objects of the standard library that are data at heart: dates, decimals, paths.

#include <optional>
#include <string_view>
#include <vector>

#include "waybill/value.h"

namespace waybill::envelope {

// The object that calling the global `callable` ("datetime.date") with these arguments
// makes. Nothing for what is none of those, or is no sound one.
std::optional<data::Standard> standard_value(std::string_view callable,
                                             const std::vector<data::Value>& arguments);

}  // namespace waybill::envelope
