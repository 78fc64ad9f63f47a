#pragma once

// What each source of the extension has for the module. The tables end with a row of
// nulls.

#include <Python.h>

#include "python/encode/encode_hooks.h"
#include "python/runtime/state.h"

namespace waybill::extension {

extern PyMethodDef kClassMethods[];        // Merging class state: _state/merge.py.
extern PyMethodDef kExplanationMethods[];  // waybill.explain().
extern PyMethodDef
    kGateMethods[];  // What is let in: waybill.security, _api/load_options.py.
extern PyMethodDef kKeyMethods[];   // Keys and signatures: waybill.security.
extern PyMethodDef kPartMethods[];  // Parts of a file: _streams/parts.py.
extern PyMethodDef
    kStreamMethods[];  // Payloads that arrive in pieces: _streams/incoming.py.

// The presets of policies and limits. Throws PyError.
void add_gate_constants(PyObject* module);

// The type PreparedCall, of which waybill.prepare() makes instances. Throws PyError.
void add_prepared_type(PyObject* module);

// Takes an error that dumps has set: an EncodeError is told what an explanation of the
// object says, if to walk it once more tells nobody of it. Throws nothing, and leaves
// the error set.
void complete_error(py::State& state, PyObject* object, const py::EncodeHooks& hooks);

}  // namespace waybill::extension
