#pragma once

// How a kind of object travels. `describe` writes what a reader needs first and plans
// the rest; codec_for() is the only list of kinds.

#include <Python.h>

#include "python/encode/graph_encoder.h"
#include "python/encode/plan.h"

namespace waybill::py {

// Throws PyError for what cannot travel.
using Describe = void (*)(GraphEncoder&, PyObject* object, Plan& plan);

// The codec of an object's type; that of __reduce_ex__ for any type without its own.
Describe codec_for(GraphEncoder& encoder, PyObject* object);

void describe_function(GraphEncoder&, PyObject* function, Plan& plan);
void describe_class(GraphEncoder&, PyObject* type, Plan& plan);
void describe_cell(GraphEncoder&, PyObject* cell, Plan& plan);
void describe_module(GraphEncoder&, PyObject* module, Plan& plan);
void describe_code(GraphEncoder&, PyObject* code, Plan& plan);
void describe_byte_array(GraphEncoder&, PyObject* object, Plan& plan);
void describe_slice(GraphEncoder&, PyObject* object, Plan& plan);
void describe_range(GraphEncoder&, PyObject* object, Plan& plan);
void describe_lazy_import(GraphEncoder&, PyObject* placeholder, Plan& plan);
void describe_buffer(GraphEncoder&, PyObject* buffer, Plan& plan);
void describe_reduced(GraphEncoder&, PyObject* object, Plan& plan);

// Writes an object as what a reducer answered for it: a name or a tuple.
void describe_answer(GraphEncoder&, PyObject* object, PyObject* answer, Plan& plan);

// The answer that names an object's members, for one that a reader would make by code
// of its class before that has what the code needs. Null for all else.
Ref answer_without_class(GraphEncoder&, PyObject* object, PyObject* answer);

// Whether object can make an instance of it.
bool is_laid_out_by_object(PyTypeObject* type);
// Whether a function needs more arguments than so many.
bool needs_more_than(PyObject* made, Py_ssize_t count);

// Our own reducer for objects of such a type; null if none.
Ref own_reducer(const State& state, PyObject* object);

// What waybill._class_parts.class_parts tells of a class; null for one that only that
// can tell.
Ref ordinary_class_parts(const State& state, PyObject* type);

// A reducer that the user gave for this very type, in a Pickler's table or in that of
// copyreg. Null if none.
Ref user_reducer(GraphEncoder& encoder, PyTypeObject* type);

// Whether there is one for the metaclass of a class.
inline bool is_reduced_by_metaclass(GraphEncoder& encoder, PyObject* type) {
  return !PyType_CheckExact(type) && user_reducer(encoder, Py_TYPE(type));
}

}  // namespace waybill::py
