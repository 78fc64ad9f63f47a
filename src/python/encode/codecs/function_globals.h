#pragma once

// What the code and the annotations of a function name, and what of it travels with the
// function.

#include <algorithm>
#include <vector>

#include "python/encode/encode_context.h"
#include "python/walker/annotations.h"

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
    std::ranges::for_each(items_of(values), visit_content);
  }
  if (function->func_kwdefaults == nullptr) return;
  for (const auto& [_, value] : PairsOf(function->func_kwdefaults))
    visit_content(value);
}

}  // namespace waybill::py
