#pragma once

// The codecs: one function for each kind of object, which writes the head of the
// object's node and plans the rest. find_codec() has the only list of kinds.

#include <Python.h>

#include <algorithm>

#include "python/encode/encode_context.h"
#include "python/encode/walk_stack.h"
#include "python/walker/annotations.h"

namespace waybill::py {

// A codec throws PyError for objects that cannot travel.
using Describe = void (*)(EncodeContext&, PyObject* object, Plan& plan);

// The codec for an object's type; describe_reduced() for types without a codec of their
// own.
Describe find_codec(EncodeContext& context, PyObject* object);

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

// Writes an object by a reduction: a name or a tuple.
void describe_reduction(EncodeContext&, PyObject* object, PyObject* reduction,
                        Plan& plan);

// A reduction by which an object travels as its members. Null unless a reader would
// otherwise create the object by code of its class before the class has all that the
// code needs.
Ref reduction_without_class(EncodeContext&, PyObject* object, PyObject* reduction);

// Whether object.__new__ can make an instance of a type.
bool has_object_layout(PyTypeObject* type);
// Whether a function requires more than `count` positional arguments.
bool needs_more_than(PyObject* function, Py_ssize_t count);

// waybill's reducer for an object; null if there is none.
Ref own_reducer(const State& state, PyObject* object);

// The reducer that the program has registered for exactly this type, in a Pickler's
// table or in that of copyreg; null if there is none.
Ref user_reducer(EncodeContext& context, PyTypeObject* type);

// Whether the program has registered a reducer for the metaclass of a class.
inline bool is_reduced_by_metaclass(EncodeContext& context, PyObject* type) {
  return !PyType_CheckExact(type) && user_reducer(context, Py_TYPE(type));
}

// ---- What code and annotations of a function name: function_globals.cpp -----------

// The globals and modules that travel with the function that is written now; for
// methods, see DeferredGlobals.
NamedValues named_values(EncodeContext& context, PyFunctionObject* function,
                         const CodeInfo& info, const Annotations& annotations);

// Visits the defaults of a function and the contents of its cells. `visit` must not run
// Python code.
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
  for (const auto& [_, value] : DictItems(function->func_kwdefaults))
    visit_content(value);
}

// ---- Objects that the receiver imports: by_reference.cpp --------------------------

// Writes a node by which readers find a global.
void write_global(EncodeContext& context, const GlobalName& name);
// Writes a reference to a module of the manifest to `out`. Only this function writes
// such references, so the manifest lists each module that is referred to.
void write_module_index(EncodeContext& context, std::uint32_t index, wire::Writer& out);

// Each of these writes an object, or returns false.

// A module that an import finds and that does not travel by value.
bool write_module(EncodeContext& context, PyObject* module);
// A type in `builtins`, such as `object` and `property`.
bool write_builtin_type(EncodeContext& context, PyObject* object);
// An object that cannot be reduced, such as a lock, if it is a global of a module. The
// receiver then uses its own object, which suits locks and caches of a module.
bool write_as_global(EncodeContext& context, PyObject* object);

// The place of a class in the module of the innermost function that is being written,
// if that module has the class under the class's own name.
GlobalName class_beside_function(EncodeContext& context, PyObject* type);

// A reduction that makes a new thread-local, or a new unlocked lock, if code of a
// module by value refers to the object; else null.
Ref fresh_reduction(EncodeContext& context, PyObject* object);

}  // namespace waybill::py
