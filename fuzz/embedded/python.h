#pragma once

// Python inside a harness. `waybill` is python_ext/waybill with the extension that is
// linked into the harness, so that all its code is instrumented.

#include <Python.h>

#include "python/runtime/ref.h"

namespace waybill::fuzz {

// Starts Python without site, user and current folders in sys.path, imports waybill,
// and runs fuzz/embedded/<script>.py as a module. Exits if that fails.
py::Ref start_python(const char* script);

// An existing attribute of the module.
py::Ref attribute_of(const py::Ref& module, const char* name);

// Prints the current Python exception, and aborts.
[[noreturn]] void give_up();

}  // namespace waybill::fuzz
