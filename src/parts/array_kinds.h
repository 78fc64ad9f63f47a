#pragma once

// Arrays of NumPy and tensors of PyTorch, by the calls that make them; and their items,
// by the names that NumPy has for numbers.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "format/value_view.h"
#include "waybill/parts.h"

namespace waybill::envelope {

inline constexpr std::size_t kMostDimensions = 64;  // Of NumPy and PyTorch.

struct NamedArray {
  std::string type;  // "numpy.ndarray"
  ArrayPart array;
};

// What an object is, if it is a node kObject whose callable is one of the table in
// array_kinds.cpp and its arguments are what that takes. `callable`: its name.
std::optional<NamedArray> array_of(const ValueView& object, std::string_view callable);

// What an item is, and how many bytes it has.
struct ArrayItem {
  char kind = '\0';  // As numpy.dtype.kind: b, i, u, f or c.
  std::size_t size = 0;
  bool is_swapped = false;  // In the order of bytes that is not this machine's.

  friend bool operator==(const ArrayItem&, const ArrayItem&) = default;
};

// "float64", which counts bits, or ">f8", which counts bytes. Nothing for what is no
// bool, int, float or complex number of NumPy's usual sizes.
std::optional<ArrayItem> array_item(std::string_view name);

}  // namespace waybill::envelope
