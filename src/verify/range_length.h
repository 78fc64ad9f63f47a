#pragma once

// How many ints a range has.

#include <cstdint>

#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// Of the range whose start, stop and step are next in `reader`, each an int or a
// reference to one in the payload of `envelope`. 2^64 - 1 for more than that, and if
// one of them has more than 128 bits; 0 for what is no range.
std::uint64_t range_length(wire::Reader reader, const Envelope& envelope);

}  // namespace waybill::envelope
