#pragma once

// Who uses the GIL, so that nobody takes it where that would crash or hang.

#include <Python.h>

namespace waybill::embedding {

// Whether this thread has the GIL. CPython 3.11 says yes in every thread once there are
// sub-interpreters.
bool has_gil();

// Begins the end of Python: from now on threads that Python does not know get no
// GilScope. False if one is open in any thread; then nothing has begun.
bool begin_end();
// Python has ended: for the next one they get it again.
void complete_end();

// Drops a reference, with the GIL if this thread has not got it. What is left of an
// interpreter that has ended stays as it is.
void drop(PyObject* object);

}  // namespace waybill::embedding
