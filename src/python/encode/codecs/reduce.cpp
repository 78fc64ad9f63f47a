// Chooses the codec or the reducer of an object: one of waybill's, one that the program
// has registered, or the object's own __reduce_ex__, called as pickle does. The
// reduction of a reducer is written in reduced_parts.cpp. Tested by
// tests/python/kinds/test_reduce.py.

#include <algorithm>
#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/text.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

// The name by which an object of a type in `self_named` can be found; null if it cannot
// be found or travels by value.
Ref own_name(EncodeContext& context, PyObject* object) {
  const State& state = context.state;
  const Ref type_name = name_of_type(state, Py_TYPE(object));
  if (check(PySet_Contains(state.self_named.get(), type_name.get())) == 0) return {};
  const Ref module = attribute_or_null(object, state.names.module);
  for (const Ref* attribute : {&state.names.qualname, &state.names.name}) {
    Ref path = attribute_or_null(object, *attribute);
    if (!module || !path || !PyUnicode_Check(path.get())) continue;
    const GlobalName found = find_global(state, object, module.get(), path.get());
    if (found.module && !context.by_value.has(found.module.get()) &&
        is_findable(state, found.module.get())) {
      return path;
    }
  }
  return {};
}

// Whether an instance of a subclass of set or frozenset is reduced by the builtin
// __reduce__, which lists the elements in the order of their hashes.
bool lists_elements(const State& state, PyObject* object) {
  if (!PyAnySet_Check(object)) return false;
  PyTypeObject* base = PySet_Check(object) ? &PySet_Type : &PyFrozenSet_Type;
  // A subclass with its own iteration order keeps that order.
  if (Py_TYPE(object)->tp_iter != base->tp_iter) return false;
  for (const Ref& name : {state.names.reduce, state.names.reduce_ex}) {
    auto* own = type_of(object);
    const Ref found = get_attribute(own, name);
    const Ref builtin = get_attribute(as_object(base), name);
    if (found.get() != builtin.get()) return false;
  }
  return true;
}

// The reduction of a set or frozenset by its __reduce__, with the elements in canonical
// order.
Ref with_sorted_elements(EncodeContext& context, PyObject* object,
                         const Ref& reduction) {
  const Ref sorted =
      sorted_elements(context.state, context.infos(), elements_of(object));
  const Ref list = Ref::steal(PySequence_List(sorted.get()));
  const Ref arguments = Ref::steal(PyTuple_Pack(1, list.get()));
  return Ref::steal(PyTuple_Pack(3, PyTuple_GET_ITEM(reduction.get(), 0),
                                 arguments.get(),
                                 PyTuple_GET_ITEM(reduction.get(), 2)));
}

// The top-level package in the __module__ of an object; empty if it has none.
std::string package_of(const State& state, PyObject* object) {
  const Ref module = attribute_or_null(object, state.names.module);
  if (!module || !PyUnicode_Check(module.get())) return {};
  std::string name(text_of(module.get()));
  return name.substr(0, name.find('.'));
}

// Whether a library, not the program, has registered a reducer. waybill's reducers take
// precedence over such a reducer, because they keep more: for types in C of that
// library, such as ufuncs of NumPy, and for exceptions and tracebacks, for which tblib
// registers reducers.
bool is_registered_by_library(const State& state, PyObject* object, PyObject* reducer) {
  const Ref partial = Ref::steal(PyUnicode_FromString("func"));
  const Ref wrapped = attribute_or_null(reducer, partial);
  const std::string package = package_of(state, wrapped ? wrapped.get() : reducer);
  if (PyExceptionInstance_Check(object) || PyTraceBack_Check(object)) {
    return package == "tblib";
  }
  auto* type = type_of(object);
  return !package.empty() && package == package_of(state, type);
}

// Reduces an object whose class has replaced its __slots__, as if __slots__ still had
// the names of the slots. Throws the current error if it has another cause.
Ref reduction_by_members(const State& state, PyObject* object) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PyError();
  const Ref failure = take_error();
  Ref reduction = steal_unless(
      PyExc_TypeError, PyObject_CallOneArg(state.reduce_by_members.get(), object));
  if (reduction && reduction.get() != Py_None) return reduction;
  restore_error(failure);
  throw PyError();
}

// Whether an object of pandas owns the current object. pandas would write to memory
// that it does not know to be shared.
bool is_of_pandas(EncodeContext& context) {
  constexpr int kMaxContainers = 4;
  int containers = 0;
  for (auto frame = context.stack.end(); frame != context.stack.begin();) {
    PyObject* holder = (--frame)->object.get();
    if (frame->plan) {
      auto* type = type_of(holder);
      return package_of(context.state, PyType_Check(holder) ? holder : type) ==
             "pandas";
    }
    if (++containers == kMaxContainers) break;
  }
  return false;
}

// The reduction that the array plan gives for an array that shares memory; null for all
// other objects. Without a plan, adds the array to the arrays for the plan.
Ref array_reduction(EncodeContext& context, PyObject* object) {
  if (!is_array(object) || is_of_pandas(context)) return {};
  if (PyObject* plan = context.options.array_plan) {
    return ArrayViews::planned_form(plan, object);
  }
  if (context.hooks().has_no_callbacks()) context.arrays.add(object);
  return {};
}

Ref reduce(EncodeContext& context, PyObject* object) {
  const State& state = context.state;
  if (context.hooks().replace != nullptr) {
    // (policy, reduction) for an object that is replaced; None for all others.
    const Ref choice = call(context.hooks().replace, object);
    if (choice.get() != Py_None) {
      context.record_substitution(object, text_of(PyTuple_GET_ITEM(choice.get(), 0)));
      return Ref::share(PyTuple_GET_ITEM(choice.get(), 1));
    }
  }
  const Ref registered = user_reducer(context, Py_TYPE(object));
  const bool is_method = is_wrapper(object) && !is_added_by_typing(state, object);
  Ref reducer = is_method ? Ref() : context.types.reducer_of(state, object);
  const bool has_own = is_method || reducer;
  if (registered &&
      !(has_own && is_registered_by_library(state, object, registered.get()))) {
    reducer = registered;  // Reducers of the program take precedence over waybill's.
  } else if (is_method) {
    return Ref::steal(
        PyTuple_Pack(2, type_of(object), parts_of_wrapper(state, object).get()));
  } else if (Ref name = reducer ? own_name(context, object) : Ref()) {
    return name;
  }
  if (reducer) return call(reducer.get(), object);
  if (Ref reduction = array_reduction(context, object)) return reduction;
  const Ref copy = copy_in_order(state, object);
  Ref protocol = Ref::steal(PyLong_FromLong(kReduceProtocol));
  Ref reduction = Ref::steal_or_null(PyObject_CallMethodOneArg(
      copy ? copy.get() : object, state.names.reduce_ex.get(), protocol.get()));
  if (!reduction) reduction = reduction_by_members(state, object);
  return lists_elements(state, object)
             ? with_sorted_elements(context, object, reduction)
             : reduction;
}

// Whether a class in Python overrides __class__, as proxies and mocks do.
bool overrides_class_attribute(const State& state, PyTypeObject* type) {
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return false;
  return std::ranges::any_of(mro_of(type), [&](PyTypeObject* base) {
    return PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE) &&
           raw_get(base, state.names.class_.get()) != nullptr;
  });
}

}  // namespace

void describe_reduced(EncodeContext& context, PyObject* object, Plan& plan) {
  const Ref reduction = reduce(context, object);
  describe_reduction(context, object, reduction.get(), plan);
}

// For exceptions the reducer of BaseException; else that of the exact type, found by
// the type or its name, that of the builtin type for subclasses of wrappers, or that of
// proxies.
Ref own_reducer(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyExceptionInstance_Check(object)) {
    return Ref::share(raw_get(state.reducers.get(), PyExc_BaseException));
  }
  auto* key = as_object(type);
  // A metaclass may make its classes unhashable; waybill has no reducers for such
  // classes.
  if (Py_TYPE(type)->tp_hash != PyType_Type.tp_hash) return {};
  if (PyObject* reducer = raw_get(state.reducers.get(), key)) {
    return Ref::share(reducer);
  }
  const Ref name = name_of_type(state, type);
  if (PyObject* row = raw_get(state.named_reducers.get(), name.get())) {
    Ref module = get_attribute(key, state.names.module);
    if (PyObject* reducer = raw_get(row, module.get())) return Ref::share(reducer);
  }
  // abc and frameworks derive classes from the wrappers.
  if (PyTypeObject* base = wrapper_among_bases(type)) {
    return Ref::share(raw_get(state.reducers.get(), as_object(base)));
  }
  return overrides_class_attribute(state, type) ? state.reduce_by_type : Ref();
}

Ref user_reducer(EncodeContext& context, PyTypeObject* type) {
  auto* key = as_object(type);
  PyObject* table = context.hooks().dispatch_table;
  if (table == nullptr) {
    return Ref::share(raw_get(context.state.dispatch_table.get(), key));
  }
  // Avoids PyObject_GetItem, because its KeyError would cost more than writing the
  // object.
  if (PyDict_CheckExact(table)) return Ref::share(raw_get(table, key));
  return steal_unless(PyExc_KeyError, PyObject_GetItem(table, key));
}

Describe find_codec(EncodeContext& context, PyObject* object) {
  struct Row {
    PyTypeObject* type;
    Describe describe;
    bool asks_copyreg;  // A reducer in copyreg's table takes precedence.
  };
  static const Row kRows[] = {
      {&PyFunction_Type, describe_function, false},
      {&PyCell_Type, describe_cell, true},
      {&PyCode_Type, describe_code, true},
      {&PyByteArray_Type, describe_byte_array, false},
      {&PySlice_Type, describe_bounds, true},
      {&PyRange_Type, describe_bounds, true},
      {&PyPickleBuffer_Type, describe_buffer, false},
      {&PyModule_Type, describe_module, true},
  };
  if (context.hooks().dispatch_table != nullptr && !PyFunction_Check(object) &&
      user_reducer(context, Py_TYPE(object))) {
    return describe_reduced;
  }
  for (const Row& row : kRows) {
    if (!Py_IS_TYPE(object, row.type)) continue;
    const bool is_registered =
        row.asks_copyreg && user_reducer(context, Py_TYPE(object));
    return is_registered ? describe_reduced : row.describe;
  }
  if (PyType_Check(object)) {
    return is_reduced_by_metaclass(context, object) ? describe_reduced : describe_class;
  }
  if (is_lazy_import(context.state, object)) return describe_lazy_import;
  return describe_reduced;
}

}  // namespace waybill::py
