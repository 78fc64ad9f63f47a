#pragma once

// What the code and the annotations of a function name, and what of it travels with the
// function.

#include <vector>

#include "python/encode/encode_context.h"

namespace waybill::py {

// A function's annotations, as it has them; at most one of both.
struct Annotations {
  PyObject* annotate;  // What gives them when they are asked for (3.14); borrowed.
  Ref evaluated;       // A dict with something in it.
};
Annotations annotations_of(PyObject* function);

// Those of a function that is written now; see DeferredGlobals for methods.
NamedValues named_values(EncodeContext& context, PyFunctionObject* function,
                         const CodeInfo& info, const Annotations& annotations);

}  // namespace waybill::py
