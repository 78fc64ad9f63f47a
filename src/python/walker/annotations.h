#pragma once

// What a function or class has for annotations: a dict, or from 3.14 on what gives one.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// A function's annotations, as they travel; at most one of both. May run code of
// others.
struct Annotations {
  PyObject* annotate;  // What gives them when they are asked for (3.14); borrowed.
  Ref evaluated;       // A dict with something in it.
};
Annotations annotations_of(PyObject* function);

// Code that names what an annotation, or a function that gives some, names by text;
// null if that is nothing. `owner`: of such a function, the one whose annotations it
// gives. May run code of others.
Ref code_of_annotation(const State& state, PyObject* annotation,
                       PyObject* owner = nullptr);

// Whether a function says that it wraps another, into which whoever asks for its
// annotations looks.
bool is_wrapping(const State& state, PyFunctionObject* function);

// Whether what gives annotations is that of a NamedTuple or of a method of a dataclass,
// which its version of the library alone understands.
bool is_of_library(PyObject* annotate);

}  // namespace waybill::py
