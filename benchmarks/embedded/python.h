#pragma once

// A Python inside a benchmark, with objects made from source.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::bench {

// The state of the library for the interpreter of this process.
py::State& state();

// The object that `source` binds to `it`. The source runs in a namespace of its own,
// whose __name__ is __main__.
py::Ref made_by(const char* source);

}  // namespace waybill::bench
