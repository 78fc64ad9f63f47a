#pragma once

// Where values of a payload are, as paths: docs/paths.md.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "report/value_text.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

// The path of the value at each of the offsets, which are in order; empty for an offset
// at which no value begins. Of a path of more than 32 steps the last ones, behind "…".
// Cost: one walk over the payload, up to the last offset.
std::vector<std::string> paths_at(const Envelope& envelope, const ValueNames& names,
                                  std::span<const std::size_t> offsets);

}  // namespace waybill::envelope
