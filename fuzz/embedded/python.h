#pragma once

// A Python inside a harness, in which `waybill` is python_ext/waybill with the
// extension that is linked into the harness: both sides of the border are instrumented
// alike.

#include <Python.h>

#include "python/runtime/ref.h"

namespace waybill::fuzz {

// Starts Python, imports waybill, and runs fuzz/embedded/<script>.py as a module. The
// process ends if that fails. Without site, user and current folders in sys.path.
py::Ref start_python(const char* script);

// An attribute of the module, which must be there.
py::Ref part_of(const py::Ref& module, const char* name);

// Prints the Python error that is set, and aborts.
[[noreturn]] void give_up();

}  // namespace waybill::fuzz
