#pragma once

// What the sender can do about an object that cannot travel.

#include <Python.h>

#include <string>

#include "python/runtime/state.h"

namespace waybill::py {

// What to do about an object that cannot travel for this reason; may be empty. `path`:
// the expression for it, or empty; types that have no name are told by that.
std::string remedy_of(State& state, PyObject* object, const std::string& reason,
                      const std::string& path);

}  // namespace waybill::py
