#pragma once

// How a kind of object travels. `describe` writes what a reader needs first and plans
// the rest; codec_for() is the only list of kinds.

#include <Python.h>

#include "python/graph_encoder.h"
#include "python/plan.h"

namespace waybill::py {

// Throws PyError for what cannot travel.
using Describe = void (*)(GraphEncoder&, PyObject* object, Plan& plan);

// The codec of an object's type; that of __reduce_ex__ for any type without its own.
Describe codec_for(const State& state, PyObject* object);

void describe_function(GraphEncoder&, PyObject* function, Plan& plan);
void describe_class(GraphEncoder&, PyObject* type, Plan& plan);
void describe_cell(GraphEncoder&, PyObject* cell, Plan& plan);
void describe_code(GraphEncoder&, PyObject* code, Plan& plan);
void describe_byte_array(GraphEncoder&, PyObject* object, Plan& plan);
void describe_slice(GraphEncoder&, PyObject* object, Plan& plan);
void describe_range(GraphEncoder&, PyObject* object, Plan& plan);
void describe_lazy_import(GraphEncoder&, PyObject* placeholder, Plan& plan);
void describe_reduced(GraphEncoder&, PyObject* object, Plan& plan);

}  // namespace waybill::py
