#pragma once

// Values of a payload as text, for people and for paths.

#include <cstddef>
#include <string>

#include "waybill/envelope.h"

namespace waybill::envelope {

// The value at `offset`, which has no code in it, as Python would write it, cut after
// about `most` bytes.
std::string text_at(const Envelope& envelope, std::size_t offset, std::size_t most);

}  // namespace waybill::envelope
