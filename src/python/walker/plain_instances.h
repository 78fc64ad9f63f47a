#pragma once

// Instances that object.__reduce_ex__ takes apart and nobody else: it tells their
// class, their dict and their slots, and runs no code of others for that.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// What makes a class say itself how its instances are taken apart, or an instance in
// whose dict it is.
bool has_own_say(const Names& names, PyObject* dict);

// Whether object.__reduce_ex__ says that copyreg's own __newobj__ makes an instance: a
// program can set another.
bool is_made_by_newobj(const State& state);

// Whether object.__reduce_ex__ takes the instances apart, as their class and their
// dict.
bool is_laid_out_plainly(const Names& names, PyTypeObject* type);

// copyreg's list of the slots of a class; borrowed, null if it has none yet.
PyObject* slot_names(const Names& names, PyTypeObject* type);

// Whether an object travels as class, dict and slots, by what its class, its dict and
// copyreg's list say.
bool travels_as_members(const State& state, PyObject* object);

// Calls `visit` with each slot of an instance of a class that is laid out so, null if
// it is empty, for as long as that answers true.
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
