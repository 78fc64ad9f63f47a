#pragma once

#include <Python.h>

namespace waybill::extension {

// The functions of the extension that have to do with what is let in;
// waybill.security and _gate call them. Ends with a row of nulls.
extern PyMethodDef kGateMethods[];

// The presets that Python has under these names too. Throws PyError.
void add_gate_constants(PyObject* module);

}  // namespace waybill::extension
