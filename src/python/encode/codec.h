#pragma once

// How a kind of object travels. `describe` writes what a reader needs first and plans
// the rest; codec_for() is the only list of kinds.

#include <Python.h>

#include <algorithm>

#include "python/encode/encode_context.h"
#include "python/encode/walk_stack.h"
#include "python/walker/annotations.h"

namespace waybill::py {

// Throws PyError for what cannot travel.
using Describe = void (*)(EncodeContext&, PyObject* object, Plan& plan);

// The codec of an object's type; that of __reduce_ex__ for any type without its own.
Describe codec_for(EncodeContext& context, PyObject* object);

void describe_function(EncodeContext&, PyObject* function, Plan& plan);
void describe_class(EncodeContext&, PyObject* type, Plan& plan);
void describe_cell(EncodeContext&, PyObject* cell, Plan& plan);
void describe_module(EncodeContext&, PyObject* module, Plan& plan);
void describe_code(EncodeContext&, PyObject* code, Plan& plan);
void describe_byte_array(EncodeContext&, PyObject* object, Plan& plan);
void describe_bounds(EncodeContext&, PyObject* slice_or_range, Plan& plan);
void describe_lazy_import(EncodeContext&, PyObject* placeholder, Plan& plan);
void describe_buffer(EncodeContext&, PyObject* buffer, Plan& plan);
void describe_reduced(EncodeContext&, PyObject* object, Plan& plan);

// Writes the namespace of functions with these globals, or a reference to it.
void write_namespace(EncodeContext&, PyObject* globals);

// Writes an object as what a reducer answered for it: a name or a tuple.
void describe_answer(EncodeContext&, PyObject* object, PyObject* answer, Plan& plan);

// The answer that names an object's members, for one that a reader would make by code
// of its class before that has what the code needs. Null for all else.
Ref answer_without_class(EncodeContext&, PyObject* object, PyObject* answer);

// Whether object can make an instance of it.
bool has_object_layout(PyTypeObject* type);
// Whether a function needs more arguments than so many.
bool needs_more_than(PyObject* made, Py_ssize_t count);

// Our own reducer for objects of such a type; null if none.
Ref own_reducer(const State& state, PyObject* object);

// A reducer that the user gave for this very type, in a Pickler's table or in that of
// copyreg. Null if none.
Ref user_reducer(EncodeContext& context, PyTypeObject* type);

// Whether there is one for the metaclass of a class.
inline bool is_reduced_by_metaclass(EncodeContext& context, PyObject* type) {
  return !PyType_CheckExact(type) && user_reducer(context, Py_TYPE(type));
}

// ---- What code and annotations of a function name: function_globals.cpp -----------

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

// ---- What a receiver imports: by_reference.cpp ------------------------------------

// Writes a node that finds a global again.
void write_global(EncodeContext& context, const GlobalName& name);
// Writes to `out` which module of the manifest is meant. Nobody else writes that, so
// that none is named which the manifest does not list.
void write_module_index(EncodeContext& context, std::uint32_t index, wire::Writer& out);

// Each writes an object, or answers false.

// A module that an import finds and that does not travel by value.
bool write_module(EncodeContext& context, PyObject* module);
// A type of `builtins` that is there under its name, as `object` and `property` are,
// which all classes have.
bool write_builtin_type(EncodeContext& context, PyObject* object);
// An object that refused to travel, such as a lock: those that a module holds are found
// again by importing it, and then they are the receiver's own, which is what a lock or
// a cache of a module is for.
bool write_as_global(EncodeContext& context, PyObject* object);

// Where the module of the innermost function that is being written has a class under
// the class's own name.
GlobalName class_beside_function(EncodeContext& context, PyObject* type);

// A reducer's answer that makes a thread-local anew, or a lock that nobody holds, if
// code of a module by value holds it; else null.
Ref fresh_answer(EncodeContext& context, PyObject* object);

}  // namespace waybill::py
