#pragma once

// Fields of a function node that are attributes of the function.

#include <array>
#include <cstddef>

#include "wire/format.h"

namespace waybill::py {

// The attribute that a field sets; null if it sets none.
inline const char* attribute_of_function(wire::FunctionField field) {
  static constexpr std::array<const char*, 13> kAttributes = {
      nullptr,  // The globals,
      nullptr,  // and the cells.
      "__defaults__",    "__kwdefaults__", "__annotations__", "__annotate__",
      "__type_params__", "__dict__",       "__name__",        "__qualname__",
      "__module__",      "__doc__",
      nullptr,  // The imports.
  };
  const auto number = static_cast<std::size_t>(field);
  return number < kAttributes.size() ? kAttributes[number] : nullptr;
}

}  // namespace waybill::py
