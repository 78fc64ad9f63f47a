#pragma once

// Arrays of NumPy and tensors of PyTorch, by the calls that make them.

#include <optional>
#include <string>

#include "format/value_view.h"
#include "waybill/parts.h"

namespace waybill::envelope {

struct NamedArray {
  std::string type;  // "numpy.ndarray"
  ArrayPart array;
};

// What an object is, if it is a node kObject whose callable is one of the table in
// array_kinds.cpp and its arguments are what that takes. `callable`: its name.
std::optional<NamedArray> array_of(const ValueView& object, std::string_view callable);

}  // namespace waybill::envelope
