#pragma once

// Items of arrays that are numbers, by the names that NumPy has for them.

#include <cstddef>
#include <optional>
#include <string_view>

namespace waybill::envelope {

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
