#pragma once

// Values of a payload as text, for people and for paths.

#include <cstddef>
#include <string>

#include "format/value_view.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

// The value at `offset`, which has no code in it, as Python would write it, cut after
// about `most` bytes.
std::string text_at(const Envelope& envelope, std::size_t offset, std::size_t most);

// What Python calls a value; of a node that Python does not know, the node's name.
std::string type_of(const ValueView& value);

}  // namespace waybill::envelope
