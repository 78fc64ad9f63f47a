#pragma once

// The Python package `waybill` and its extension, linked into the program.

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

// The state of the linked extension in the current interpreter. Imports the package if
// necessary. Throws PyError: ImportError if the imported `waybill` is another one.
py::State& linked_state();

}  // namespace waybill::embedding
