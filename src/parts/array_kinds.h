#pragma once

// NumPy arrays and PyTorch tensors, recognized by the calls that make them; and the
// types of their items, by NumPy's names.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "format/value_view.h"
#include "waybill/parts.h"

namespace waybill::envelope {

inline constexpr std::size_t kMaxDimensions = 64;  // The limit of NumPy and PyTorch.

struct NamedArray {
  std::string type;  // "numpy.ndarray"
  ArrayPart array;
};

// The array that a node kObject makes. Nothing if `callable`, the name of its callable,
// is not in the table of array_kinds.cpp, or if the arguments do not fit.
std::optional<NamedArray> array_of(const ValueView& object, std::string_view callable);

// The type of an item.
struct ArrayItem {
  char kind = '\0';         // As numpy.dtype.kind: b, i, u, f or c.
  std::size_t size = 0;     // In bytes.
  bool is_swapped = false;  // Not in this machine's byte order.

  friend bool operator==(const ArrayItem&, const ArrayItem&) = default;
};

// `name`: "float64", which counts bits, or ">f8", which counts bytes. Nothing unless it
// is a bool, int, float or complex number of one of NumPy's usual sizes.
std::optional<ArrayItem> array_item(std::string_view name);

}  // namespace waybill::envelope
