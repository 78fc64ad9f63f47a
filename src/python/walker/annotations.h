#pragma once

// Annotations of functions and classes: a dict, or, from 3.14 on, a function that
// returns one.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The annotations of a function in the form in which they travel; at most one of the
// members is set.
struct Annotations {
  PyObject* annotate;  // The __annotate__ function (3.14); borrowed.
  Ref evaluated;       // A dict that is not empty.
};
// May run Python code.
Annotations annotations_of(PyObject* function);

// Code that loads the names that the text in an annotation refers to; null if there are
// none. `annotation` may also be the __annotate__ function of `owner`. May run Python
// code.
Ref code_of_annotation(const State& state, PyObject* annotation,
                       PyObject* owner = nullptr);

// Whether a function has a __wrapped__ function. Then typing.get_type_hints() uses the
// globals of that function.
bool has_wrapped_function(const State& state, PyFunctionObject* function);

// Whether an __annotate__ function belongs to a NamedTuple or to a method of a
// dataclass. Only the same version of the library understands such a function.
bool is_library_annotate(PyObject* annotate);

}  // namespace waybill::py
