#pragma once

// The Python package `waybill`, and its extension, as parts of the program.

#include <Python.h>

#include <cstddef>

#include "python/runtime/state.h"

namespace waybill::embedding {

// A module of the package: its code object as `marshal` writes it.
struct LinkedModule {
  const char* name;
  bool is_package;
  const unsigned char* code;
  std::size_t size;
};

// Generated from python_ext/waybill when the library is built. Ends with a null name.
extern const LinkedModule kLinkedModules[];

// The state of the extension that is linked into this program, in the interpreter that
// runs; imports the package if it is not. Throws PyError: ImportError if `waybill`
// comes from somewhere else there.
py::State& linked_state();

}  // namespace waybill::embedding
