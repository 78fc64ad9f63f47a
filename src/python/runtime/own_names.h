#pragma once

// Names of waybill's own modules, which payloads hold where they need its help: what
// another version of it calls otherwise.

#include <Python.h>

#include <string>

namespace waybill::py {

// What to do if there is no such name in the module: empty if the module is none of
// waybill's own. Python's error must not be set.
std::string advice_on_versions(PyObject* module_name);

}  // namespace waybill::py
