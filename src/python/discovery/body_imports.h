#pragma once

// Import statements in bodies: listed as needed when called. Nothing is imported here;
// a module that nobody has loaded has no value.

#include <Python.h>

#include "python/discovery/code_info.h"
#include "python/discovery/import_collector.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The module of an import statement in a function's code, as an absolute name; null if
// the function's package is not known.
Ref absolute_name(const State& state, PyObject* function, const CodeInfo& info,
                  const BodyImport& statement);

// Notes all statements of one code object of a function.
void note_body_imports(const State& state, ImportCollector& imports, PyObject* function,
                       const CodeInfo& info);

// The module that the body goes on with behind a statement; null if it is not loaded.
PyObject* imported_module(const State& state, PyObject* function, const CodeInfo& info,
                          const BodyImport& statement);

}  // namespace waybill::py
