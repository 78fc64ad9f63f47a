#pragma once

// Instances that object.__reduce_ex__ reduces to their class, dict and slots, without
// running Python code of the program.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Whether the dict of a class or an instance has a method of the reduce protocol.
bool overrides_reduction(const Names& names, PyObject* dict);

// Whether object.__reduce_ex__ uses copyreg's original __newobj__, which a program can
// replace.
bool has_original_newobj(const State& state);

// Whether object.__reduce_ex__ reduces the instances to their class and dict.
bool has_plain_layout(const Names& names, PyTypeObject* type);

// copyreg's list of the slots of a class; borrowed, null if copyreg has not made it.
PyObject* slot_names(const Names& names, PyTypeObject* type);

// Has copyreg make its list of the slots of a class, as object.__reduce_ex__ does when
// it reduces an instance. Errors are ignored, since that call raises them again.
void list_slots(const State& state, PyTypeObject* type);

// Whether an object travels as its class, dict and slots. If copyreg has not listed the
// slots of its class, the answer is no; see list_slots().
bool travels_as_members(const State& state, PyObject* object);

// Calls `visit` with the value of each slot, null for an empty one, until it returns
// false. For instances of which travels_as_members() is true.
template <typename Visit>
bool visit_slots(PyObject* object, Visit visit) {
  PyTypeObject* type = Py_TYPE(object);
  auto* bytes = reinterpret_cast<char*>(object);
  for (Py_ssize_t at = PyBaseObject_Type.tp_basicsize; at < type->tp_basicsize;
       at += static_cast<Py_ssize_t>(sizeof(PyObject*))) {
    if (at == type->tp_dictoffset || at == type->tp_weaklistoffset) continue;
    if (!visit(*reinterpret_cast<PyObject**>(bytes + at))) return false;
  }
  return true;
}

}  // namespace waybill::py
