#pragma once

// What a function or class has for annotations: a dict, or from 3.14 on what gives one.

#include <Python.h>

#include "python/runtime/ref.h"

namespace waybill::py {

// A function's annotations, as they travel; at most one of both. May run code of
// others.
struct Annotations {
  PyObject* annotate;  // What gives them when they are asked for (3.14); borrowed.
  Ref evaluated;       // A dict with something in it.
};
Annotations annotations_of(PyObject* function);

// Whether what gives annotations is that of a NamedTuple or of a method of a dataclass,
// which its version of the library alone understands.
bool is_of_library(PyObject* annotate);

}  // namespace waybill::py
