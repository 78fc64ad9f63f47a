#pragma once

// What the code and the annotations of a function name, and what of it travels with the
// function.

#include <vector>

#include "python/encode/graph_encoder.h"

namespace waybill::py {

// A function's annotations, as it has them; at most one of both.
struct Annotations {
  PyObject* annotate;  // What gives them when they are asked for (3.14); borrowed.
  Ref evaluated;       // A dict with something in it.
};
Annotations annotations_of(PyObject* function);

struct NamedValues {
  // Those that no function before wrote, or began to write, in their turns.
  std::vector<Global> globals;
  // Modules by value that the code needs more of than a reader has.
  std::vector<Ref> modules;
};

// Those of a function that is written now. Of a method, while its class has not all
// methods, what is put aside is none of them.
NamedValues named_values(GraphEncoder& encoder, PyFunctionObject* function,
                         const CodeInfo& info, const Annotations& annotations);

}  // namespace waybill::py
