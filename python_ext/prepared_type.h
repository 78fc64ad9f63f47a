#pragma once

#include <Python.h>

namespace waybill::extension {

// Adds waybill._core.PreparedCall to the module; waybill.prepare() makes them. Throws
// PyError.
void add_prepared_type(PyObject* module);

}  // namespace waybill::extension
