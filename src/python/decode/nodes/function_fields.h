#pragma once

// Fields of a function node that are attributes of the function.

#include <algorithm>
#include <array>
#include <cstddef>

#include "format/shapes.h"

namespace waybill::py {

// The attribute that a field sets; null if it sets none, as those that hold no object.
inline const char* attribute_of_function(wire::FunctionField field) {
  struct Attribute {
    char name[24] = {};
  };
  static constexpr auto kAttributes = [] {
    std::array<Attribute, envelope::kFunctionParts.size()> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const envelope::Part& part = envelope::kFunctionParts[i];
      if (part.rule != envelope::Rule::kObject) continue;
      char* end = std::copy_n("__", 2, all[i].name);
      end = std::copy(part.name.begin(), part.name.end(), end);
      std::copy_n("__", 2, end);
    }
    return all;
  }();
  const auto number = static_cast<std::size_t>(field);
  if (number >= kAttributes.size() || kAttributes[number].name[0] == 0) return nullptr;
  return kAttributes[number].name;
}

}  // namespace waybill::py
