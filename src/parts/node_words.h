#pragma once

// What a value is that is no plain data, for people.

#include <cstddef>
#include <string>

#include "waybill/envelope.h"

namespace waybill::envelope {

// The name that tells best what the value at `offset` is: "datetime.date" of an object
// that this makes, "f" of a function by value, "os" of a module. Empty where none is
// known. The envelope has passed verify(). Cost: by what stands before that name.
std::string name_at(const Envelope& envelope, std::size_t offset);

}  // namespace waybill::envelope
