#pragma once

// The method tables of the extension's sources, and other parts of the module. Each
// table ends with a row of nulls.

#include <Python.h>

#include "python/encode/encode_hooks.h"
#include "python/runtime/state.h"

namespace waybill::extension {

extern PyMethodDef kClassMethods[];        // For the merge of class state.
extern PyMethodDef kExplanationMethods[];  // waybill.explain().
extern PyMethodDef kSecurityMethods[];     // waybill.security.
extern PyMethodDef kPartMethods[];         // Parts of a mapped file.
extern PyMethodDef kStreamMethods[];       // Payloads received in pieces.

// Adds the presets of policies and limits. Throws PyError.
void add_security_constants(PyObject* module);

// Adds the type PreparedCall, whose instances waybill.prepare() makes. Throws PyError.
void add_prepared_type(PyObject* module);

// Adds an explanation of the object to the current EncodeError, unless the hooks would
// notice that the object is walked once more. Throws nothing, and keeps the exception.
void complete_error(py::State& state, PyObject* object, const py::EncodeHooks& hooks);

}  // namespace waybill::extension
