#pragma once

// Texts and bytes that begin alike, told by where they differ: cut from the start, they
// would look the same.

#include <cstddef>
#include <optional>
#include <string>

#include "format/value_view.h"

namespace waybill::envelope {

struct LeafDifference {
  std::size_t index;   // The first character, or byte, that differs.
  std::string before;  // What stands around it: '…xxxa' (201 characters)
  std::string after;
};

// Of two texts, or two bytes or bytearrays; nothing if they are other values, or equal.
// About `max_text` bytes of each are shown.
// Cost: linear in the shorter one.
std::optional<LeafDifference> leaf_difference(const ValueView& before,
                                              const ValueView& after,
                                              std::size_t max_text);

}  // namespace waybill::envelope
