#pragma once

// What the code and the annotations of a function name, and what of it travels with the
// function.

#include <vector>

#include "python/discovery/annotations.h"
#include "python/encode/encode_context.h"

namespace waybill::py {

// Those of a function that is written now; see DeferredGlobals for methods.
NamedValues named_values(EncodeContext& context, PyFunctionObject* function,
                         const CodeInfo& info, const Annotations& annotations);

// Visits the defaults of a function, and what its cells hold. `visit` must run no code
// of Python.
template <typename Visit>
void visit_own_values(PyFunctionObject* function, Visit visit) {
  const auto visit_content = [&](PyObject* value) {
    if (PyCell_Check(value)) value = PyCell_GET(value);
    if (value != nullptr) visit(value);
  };
  for (PyObject* values : {function->func_defaults, function->func_closure}) {
    for (Py_ssize_t i = 0; values != nullptr && i < PyTuple_GET_SIZE(values); ++i) {
      visit_content(PyTuple_GET_ITEM(values, i));
    }
  }
  Py_ssize_t position = 0;
  PyObject* value;
  PyObject* keywords = function->func_kwdefaults;
  while (keywords != nullptr && PyDict_Next(keywords, &position, nullptr, &value)) {
    visit_content(value);
  }
}

}  // namespace waybill::py
