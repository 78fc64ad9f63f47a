#pragma once

// The source of code, as far as it is proven: waybill._source, in Python, finds the
// text and compiles it.

#include <Python.h>

#include <string>

#include "python/discovery/code_info.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The source of a code object, which `info` keeps once it is found; null, and why in
// `reason`, if there is none. `owner`: the class that is being sent around it, or null:
// what has written methods of the class is asked for them. Runs Python code, such as
// loaders of modules, where the source is not kept. Throws PyError.
const CodeSource* source_of(const State& state, CodeInfo& info, PyObject* owner,
                            std::string& reason);

}  // namespace waybill::py
