// Tested by tests/python/cache/test_cached_objects.py.

#include "python/guards/object_form.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <vector>

#include "python/guards/reach.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/objects.h"

namespace waybill::py {

namespace {

constexpr Py_ssize_t kMaxConstantLength = 1024;  // Of text and bytes.
constexpr int kMaxTypeDepth = 8;                 // The nesting of generic types.

// The mapping of a mapping proxy, which only tp_traverse shows. Null if the proxy
// refers to several objects.
PyObject* mapping_of(PyObject* proxy) {
  const std::vector<PyObject*> referents = referents_of(proxy);
  return referents.size() == 1 ? referents[0] : nullptr;
}

Ref own_attribute(PyObject* object, const char* text) {
  // Avoids getattr, which for an alias may read from the aliased class.
  return steal_unless(PyExc_AttributeError,
                      PyObject_GenericGetAttr(object, interned(text).get()));
}

// A tuple of a callable and the arguments in another tuple.
Ref call_of(PyObject* callable, PyObject* arguments) {
  const Ref first = Ref::steal(PyTuple_Pack(1, callable));
  return Ref::steal(PySequence_Concat(first.get(), arguments));
}

// The call that a reducer returned; null if it returned anything else.
Ref call_in(const Ref& reduction) {
  if (!reduction || !PyTuple_CheckExact(reduction.get()) ||
      PyTuple_GET_SIZE(reduction.get()) != 2 ||
      !PyTuple_CheckExact(PyTuple_GET_ITEM(reduction.get(), 1))) {
    return {};
  }
  return call_of(PyTuple_GET_ITEM(reduction.get(), 0),
                 PyTuple_GET_ITEM(reduction.get(), 1));
}

// The call that makes an object of one of the types of is_of_builtin_type(). Null for
// an object that travels otherwise, such as an unpacked alias: `*tuple[int]`.
Ref call_of_builtin(const State& state, PyObject* object) {
  auto* type = type_of(object);
  if (is_wrapper(object)) return call_of(type, parts_of_wrapper(state, object).get());
  if (Py_IS_TYPE(object, &PyDictProxy_Type)) {
    PyObject* mapping = mapping_of(object);
    // Any other mapping may run Python code.
    if (mapping == nullptr || !PyDict_CheckExact(mapping)) return {};
    return Ref::steal(PyTuple_Pack(2, type, mapping));
  }
  if (own_attribute(object, "__unpacked__").get() != Py_False) return {};
  const Ref origin = own_attribute(object, "__origin__");
  const Ref arguments = own_attribute(object, "__args__");
  if (!origin || !arguments) return {};
  return Ref::steal(PyTuple_Pack(3, type, origin.get(), arguments.get()));
}

bool is_of_builtin_type(PyObject* object) {
  return is_wrapper(object) || Py_IS_TYPE(object, &PyDictProxy_Type) ||
         Py_IS_TYPE(object, &Py_GenericAliasType);
}

// Whether an object is a union such as `int | None`, which copyreg reduces.
bool is_union(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const std::string_view name = type->tp_name;
  return !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
         (name == "types.UnionType" || name == "typing.Union");
}

// Whether an object is a generic type or a special form of typing.
bool is_of_typing(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return false;
  constexpr std::string_view kTypes[] = {
      "_GenericAlias",        "_UnionGenericAlias",     "_SpecialForm",
      "_SpecialGenericAlias", "_TypedCacheSpecialForm", "_TupleType"};
  return std::ranges::find(kTypes, std::string_view(type->tp_name)) !=
             std::end(kTypes) &&
         is_same_text(raw_get(type, state.names.module.get()),
                      state.names.typing.get());
}

// The result of a reducer; null if it fails. The encoder then reports the error.
Ref call_reducer(PyObject* reducer, PyObject* object) {
  return steal_unless(PyExc_Exception, PyObject_CallOneArg(reducer, object));
}

// Calls the reducer of an object of typing, which is found as the encoder finds it.
// Null if the reducer belongs neither to waybill nor to copyreg or typing.
Ref reduction_of_typing(const State& state, PyObject* object) {
  auto* type = type_of(object);
  Ref reducer = Ref::share(raw_get(state.dispatch_table.get(), type));
  if (is_union(object)) {
    if (!reducer || !find_by_own_name(state, reducer.get()).module) return {};
    return call_reducer(reducer.get(), object);
  }
  if (reducer || !is_of_typing(state, object)) return {};
  const Ref name = Ref::steal(PyType_GetName(Py_TYPE(object)));
  if (PyObject* row = raw_get(state.named_reducers.get(), name.get())) {
    reducer = Ref::share(raw_get(row, state.names.typing.get()));
  }
  if (reducer) return call_reducer(reducer.get(), object);
  // object.__reduce_ex__ calls __reduce__.
  PyTypeObject* object_type = &PyBaseObject_Type;
  const Ref own_dict = instance_dict(object);
  if ((own_dict && overrides_reduction(state.names, own_dict.get())) ||
      _PyType_Lookup(Py_TYPE(object), state.names.reduce_ex.get()) !=
          raw_get(object_type, state.names.reduce_ex.get())) {
    return {};
  }
  const Ref own = attribute_or_null(type_of(object), state.names.reduce);
  return own ? call_reducer(own.get(), object) : Ref();
}

ReducedForm reduced_form_of_typing(const State& state, PyObject* object) {
  const Ref reduction = reduction_of_typing(state, object);
  if (!reduction) return {};
  if (PyUnicode_CheckExact(reduction.get())) {
    const Ref module = attribute_or_null(object, state.names.module);
    if (!module) return {};
    return {{}, find_global(state, object, module.get(), reduction.get())};
  }
  return {call_in(reduction), {}};
}

// The call that object.__reduce_ex__ returns; null if it returns anything else, or if
// the object itself has a reducer.
Ref call_of_own_reducer(const State& state, PyObject* object) {
  Ref own_dict;
  if (!find_own_dict(state, object, own_dict)) return {};
  const Ref protocol = Ref::steal(PyLong_FromLong(kReduceProtocol));
  return call_in(steal_unless(
      PyExc_Exception,
      PyObject_CallMethodOneArg(object, state.names.reduce_ex.get(), protocol.get())));
}

// The call that finds a member of an enumeration; null if the enumeration, or one of
// its bases, has a reducer that is not that of enum.
Ref call_of_member(const State& state, PyObject* member) {
  PyObject* reducer = _PyType_Lookup(Py_TYPE(member), state.names.reduce_ex.get());
  const bool is_of_enum =
      reducer != nullptr && PyFunction_Check(reducer) &&
      is_same_text(as_function(reducer)->func_module, state.names.enum_module.get());
  if (!is_of_enum || is_reduced_by_user(state, member)) return {};
  return call_of_own_reducer(state, member);
}

// The call that makes an object of one of CALL_TYPES; null for all other objects. A
// reducer of the program may do anything, so none is called.
Ref call_of_library(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const Ref name = Ref::steal(PyType_GetName(type));
  PyObject* modules = raw_get(state.call_types.get(), name.get());
  if (modules == nullptr) return {};
  const GlobalName home = find_by_own_name(state, as_object(type));
  if (!home.module) return {};
  PyObject* module = module_name(state, home);
  if (check(PySet_Contains(modules, module)) == 0) return {};
  const Ref reducer = Ref::share(raw_get(state.dispatch_table.get(), as_object(type)));
  if (reducer) {
    const GlobalName place = find_by_own_name(state, reducer.get());
    if (!place.module || !is_same_text(module_name(state, place), module)) return {};
    return call_in(call_reducer(reducer.get(), object));
  }
  const auto is_replaced = [&](const Ref& method) {
    PyObject* found = _PyType_Lookup(type, method.get());
    if (found == nullptr || !PyFunction_Check(found)) return found == nullptr;
    PyObject* home_of_method = as_function(found)->func_module;
    return home_of_method == nullptr || !PyUnicode_CheckExact(home_of_method) ||
           check(PySet_Contains(modules, home_of_method)) == 0;
  };
  if (is_replaced(state.names.reduce_ex) || is_replaced(state.names.reduce)) return {};
  return call_of_own_reducer(state, object);
}

// The place of a builtin sentinel (3.15), which has a name and a module.
GlobalName place_of_sentinel(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ||
      std::string_view(type->tp_name) != "sentinel") {
    return {};
  }
  const Ref name = steal_unless(
      PyExc_Exception, PyObject_CallMethodNoArgs(object, state.names.reduce.get()));
  const Ref module = attribute_or_null(object, state.names.module);
  if (!name || !PyUnicode_CheckExact(name.get()) || !module) return {};
  return find_global(state, object, module.get(), name.get());
}

// The place of a sentinel of dataclasses.
GlobalName place_of_dataclass_sentinel(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const Ref type_name = Ref::steal(PyType_GetName(type));
  PyObject* row = raw_get(state.named_reducers.get(), type_name.get());
  if (row == nullptr) return {};
  const Ref home = Ref::share(raw_get(type, state.names.module.get()));
  if (!home || !PyUnicode_CheckExact(home.get()) ||
      raw_get(row, home.get()) != state.reduce_to_name.get()) {
    return {};
  }
  const Ref own = instance_dict(object);
  if (own && raw_get(own.get(), state.names.module.get()) != nullptr) return {};
  PyObject* module = find_module(state, home.get());
  if (module == nullptr) return {};
  PyObject* name = name_in(PyModule_GetDict(module), object);
  return name == nullptr ? GlobalName{} : find_global(state, object, home.get(), name);
}

}  // namespace

bool is_text_or_none(PyObject* object) {
  return object == nullptr || object == Py_None || PyUnicode_CheckExact(object);
}

bool is_constant(PyObject* object) {
  if (PyUnicode_CheckExact(object))
    return PyUnicode_GET_LENGTH(object) <= kMaxConstantLength;
  if (PyBytes_CheckExact(object)) return PyBytes_GET_SIZE(object) <= kMaxConstantLength;
  return is_simple(object) || object == Py_Ellipsis || object == Py_NotImplemented ||
         (PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) == 0);
}

bool is_same_constant(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyUnicode_CheckExact(a)) return PyUnicode_Compare(a, b) == 0;
  if (PyFloat_CheckExact(a)) {  // By bits: 0.0 is not -0.0, and nan equals itself.
    const double first = PyFloat_AS_DOUBLE(a), second = PyFloat_AS_DOUBLE(b);
    return std::memcmp(&first, &second, sizeof first) == 0;
  }
  if (!PyLong_CheckExact(a) && !PyBytes_CheckExact(a)) return false;
  return check(PyObject_RichCompareBool(a, b, Py_EQ)) == 1;
}

Ref copy_of_leaf(PyObject* leaf) {
  if (PyBytes_CheckExact(leaf)) {
    return Ref::steal(
        PyBytes_FromStringAndSize(PyBytes_AS_STRING(leaf), PyBytes_GET_SIZE(leaf)));
  }
  return Ref::steal(PyUnicode_FromKindAndData(
      PyUnicode_KIND(leaf), PyUnicode_DATA(leaf), PyUnicode_GET_LENGTH(leaf)));
}

bool is_reduced_by_user(const State& state, PyObject* object) {
  if (PyType_CheckExact(object) || PyFunction_Check(object)) return false;
  auto* type = type_of(object);
  return raw_get(state.dispatch_table.get(), type) != nullptr;
}

bool has_recorded_name(const State& state, PyObject* object, PyObject* module,
                       PyObject* name) {
  if (PyFunction_Check(object)) {
    auto* function = as_function(object);
    return is_same_text(function->func_module, module) &&
           is_same_text(function->func_qualname, name);
  }
  if (PyCFunction_CheckExact(object)) {
    return is_same_text(reinterpret_cast<PyCFunctionObject*>(object)->m_module, module);
  }
  if (!PyType_HasFeature(as_type(object), Py_TPFLAGS_HEAPTYPE)) {
    return true;
  }
  const GlobalName found = find_by_own_name(state, object);
  return found.module && is_same_text(found.path.get(), name) &&
         is_same_text(module_name(state, found.module.get()), module);
}

std::uint32_t namespace_flags(const State& state, PyObject* globals, PyObject* name) {
  const bool is_package = look_up(state, globals, state.names.path.get()) != nullptr;
  if (name != nullptr && PyUnicode_Check(name) && is_main(state, name)) {
    return is_package;
  }
  PyObject* spec = look_up(state, globals, state.names.spec.get());
  if (spec != nullptr && spec != Py_None) return is_package | kMayBeImported;
  const bool can_be_imported = module_of_dict(state, globals) != nullptr;
  return is_package | can_be_imported * kMayBeImported;
}

PyObject* tracked_id(const State& state, PyObject* type) {
  PyObject* entry = tracked_entry(state, type);
  if (entry == nullptr) return nullptr;
  PyObject* id = PyTuple_GET_ITEM(entry, 1);
  return object_with_id(state, id).get() == type ? id : nullptr;
}

bool is_guarded_container(PyObject* value) {
  return PyTuple_CheckExact(value) || PyList_CheckExact(value) ||
         PyDict_CheckExact(value) || PyAnySet_CheckExact(value);
}

ReducedForm reduced_form_of(const State& state, PyObject* object) {
  if (PyFunction_Check(object) || has_standard_metaclass(state, object)) return {};
  if (is_union(object) || is_of_typing(state, object)) {
    return reduced_form_of_typing(state, object);
  }
  if (is_enumeration(state, type_of(object)))
    return {call_of_member(state, object), {}};
  if (Ref call = call_of_library(state, object)) return {std::move(call), {}};
  if (is_reduced_by_user(state, object)) return {};
  if (is_of_builtin_type(object)) return {call_of_builtin(state, object), {}};
  if (is_empty_frozendict(object)) {
    return {Ref::steal(PyTuple_Pack(2, type_of(object), state.empty_dict.get())), {}};
  }
  if (is_field_of_named_tuple(object)) {
    return {call_in(call_method(object, state.names.reduce)), {}};
  }
  if (GlobalName place = find_in_type(state, object); place.module) return {{}, place};
  if (GlobalName place = place_of_sentinel(state, object); place.module) {
    return {{}, place};
  }
  return {{}, place_of_dataclass_sentinel(state, object)};
}

Py_ssize_t item_count(PyObject* container) {
  if (PyDict_CheckExact(container)) return PyDict_GET_SIZE(container);
  return PyAnySet_CheckExact(container) ? PySet_GET_SIZE(container)
                                        : Py_SIZE(container);
}

bool find_own_dict(const State& state, PyObject* object, Ref& dict) {
  if (Py_TYPE(object)->tp_dictoffset == 0) return true;
  dict = instance_dict(object);
  return !dict || (PyDict_CheckExact(dict.get()) &&
                   !overrides_reduction(state.names, dict.get()));
}

bool has_no_text(PyObject* annotation, int depth) {
  if (PyUnicode_Check(annotation) || depth == kMaxTypeDepth) return false;
  if (PyType_Check(annotation) || is_simple(annotation) || annotation == Py_Ellipsis) {
    return true;
  }
  const std::string_view type = Py_TYPE(annotation)->tp_name;
  if (!Py_IS_TYPE(annotation, &Py_GenericAliasType) && !is_union(annotation) &&
      type != "_GenericAlias" && type != "_UnionGenericAlias") {
    return false;
  }
  const Ref arguments = own_attribute(annotation, "__args__");
  if (!arguments || !PyTuple_CheckExact(arguments.get())) return false;
  return std::ranges::all_of(items_of(arguments.get()), [&](PyObject* inner) {
    return has_no_text(inner, depth + 1);
  });
}

}  // namespace waybill::py
