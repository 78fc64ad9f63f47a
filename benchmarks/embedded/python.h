#pragma once

// A Python inside a benchmark, with objects made from source.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::bench {

// What the library keeps for the interpreter of this process.
py::State& state();

// What `source` calls `it`, run in a namespace of its own as if it stood in __main__.
py::Ref made_by(const char* source);

}  // namespace waybill::bench
