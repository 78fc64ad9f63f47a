// Objects that a reader would make by code of their class before the class has all that
// this code needs. They travel as their members, and no code of the class runs. Tested
// by tests/python/imports/test_order_of_need.py and
// tests/python/modules/test_held_by_code.py.

#include <algorithm>
#include <string_view>

#include "python/encode/codec.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

bool has_object_layout(PyTypeObject* type) {
  while (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) type = type->tp_base;
  return type == &PyBaseObject_Type;
}

bool needs_more_than(PyObject* constructor, Py_ssize_t count) {
  if (!PyFunction_Check(constructor)) return false;
  const auto* function = as_function(constructor);
  const auto* code = as_code(function->func_code);
  PyObject* defaults = function->func_defaults;
  const Py_ssize_t optional = defaults == nullptr ? 0 : PyTuple_GET_SIZE(defaults);
  return code->co_argcount - optional > count;
}

namespace {

// Whether the first __new__ that a base defines needs arguments besides the class. A
// reader calls it while the type does not have its own __new__ yet.
bool has_demanding_base(const State& state, PyTypeObject* type) {
  for (PyTypeObject* base : mro_of(type).subspan(1)) {
    PyObject* constructor = raw_get(base, state.names.new_.get());
    if (constructor == nullptr) continue;
    const Ref function = PyObject_TypeCheck(constructor, &PyStaticMethod_Type)
                             ? get_attribute(constructor, "__func__")
                             : Ref::share(constructor);
    return needs_more_than(function.get(), 1);
  }
  return false;
}

// Whether the closure of the __new__ of an object's class contains the object, as for
// singletons. No call can make the object before the class exists.
bool is_held_by_its_new(const State& state, PyObject* object) {
  const Ref constructor = attribute_or_null(type_of(object), state.names.new_);
  if (!constructor || !PyFunction_Check(constructor.get())) return false;
  const auto cells = items_of(PyFunction_GET_CLOSURE(constructor.get()));
  return std::ranges::any_of(
      cells, [&](PyObject* cell) { return PyCell_GET(cell) == object; });
}

// Whether the setter of the state reads the fields of the class, which are set after
// its methods, as for dataclasses with slots.
bool has_fields_to_set(const State& state, PyTypeObject* type) {
  const Ref setter = attribute_or_null(as_object(type), state.names.setstate);
  return setter && PyFunction_Check(setter.get()) &&
         PyUnicode_CompareWithASCIIString(as_function(setter.get())->func_name,
                                          "_dataclass_setstate") == 0;
}

// Whether a reader makes an instance by a __new__ in Python that may need attributes
// which its class does not have yet. The reduction uses copyreg's constructors or calls
// the class.
bool is_made_too_early(EncodeContext& context, PyObject* object, PyObject* callable,
                       PyObject* arguments) {
  const State& state = context.state;
  PyTypeObject* type = Py_TYPE(object);
  const bool is_ex = callable == state.newobj_ex.get();
  if (callable == as_object(type)) {
    // An enumeration has its members as soon as it exists.
    if (is_enumeration(state, as_object(type))) return false;
    const Ref constructor = attribute_or_null(callable, state.names.new_);
    return constructor && PyFunction_Check(constructor.get()) &&
           context.stack.is_within_class(type);
  }
  if ((callable != state.newobj.get() && !is_ex) ||
      !context.stack.is_within_method_of(context.state, type)) {
    return false;
  }
  if (is_held_by_its_new(state, object)) return true;
  if (type->tp_new == PyBaseObject_Type.tp_new) return has_fields_to_set(state, type);
  const bool has_arguments = is_ex || PyTuple_GET_SIZE(arguments) > 1;
  return has_object_layout(type) && (has_arguments || has_demanding_base(state, type));
}

// Whether a reduction calls an instance with one argument, which is None or a class
// that is not complete yet. Events of SQLAlchemy have such reductions.
bool is_described_by_class(EncodeContext& context, PyObject* callable,
                           PyObject* arguments) {
  if (context.by_value.names() == nullptr || PyTuple_GET_SIZE(arguments) != 1 ||
      PyType_Check(callable) || PyFunction_Check(callable) ||
      !context.stack.is_within_code()) {
    return false;
  }
  PyObject* only = PyTuple_GET_ITEM(arguments, 0);
  const bool is_open =
      PyType_Check(only) && context.stack.is_within_class(as_type(only));
  return (only == Py_None || is_open) && instance_dict(callable);
}

// Whether an object is an alias `cls[...]` of a class that is not complete or not sent,
// so that a reader cannot subscript it.
bool is_alias_of_absent_class(EncodeContext& context, PyObject* object,
                              PyObject* arguments) {
  if (std::string_view(Py_TYPE(object)->tp_name) != "_GenericAlias" ||
      PyTuple_GET_SIZE(arguments) == 0 ||
      !PyType_Check(PyTuple_GET_ITEM(arguments, 0))) {
    return false;
  }
  auto* origin = as_type(PyTuple_GET_ITEM(arguments, 0));
  if (context.stack.is_within_class(origin)) return true;
  return context.extensions.extension_of_type(origin) != nullptr;
}

}  // namespace

Ref reduction_without_class(EncodeContext& context, PyObject* object,
                            PyObject* reduction) {
  if (!PyTuple_Check(reduction) || PyTuple_GET_SIZE(reduction) < 2 ||
      !PyTuple_Check(PyTuple_GET_ITEM(reduction, 1))) {
    return {};
  }
  PyObject* callable = PyTuple_GET_ITEM(reduction, 0);
  PyObject* arguments = PyTuple_GET_ITEM(reduction, 1);
  if (!is_made_too_early(context, object, callable, arguments) &&
      !is_described_by_class(context, callable, arguments) &&
      !is_alias_of_absent_class(context, object, arguments)) {
    return {};
  }
  return null_if_none(call(context.state.reduce_without_class.get(), object));
}

}  // namespace waybill::py
