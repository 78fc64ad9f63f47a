#pragma once

// Names as str objects: of modules, variables, functions, files.

#include <Python.h>

#include <array>
#include <string_view>

#include "python/runtime/ref.h"

namespace waybill::py {

// Interned str objects, of which those that came lately are found without a look into
// the interpreter's own table. Bounded; needs the GIL.
class InternTable {
 public:
  // The str; lone surrogates pass. Throws PyError.
  Ref get(std::string_view utf8);

  // Null for a view of nothing.
  Ref get_or_null(std::string_view utf8) {
    return utf8.data() == nullptr ? Ref() : get(utf8);
  }

  void clear() { entries_ = {}; }

 private:
  std::array<Ref, 512> entries_;  // ASCII.
};

}  // namespace waybill::py
