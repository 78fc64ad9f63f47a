// Tested by tests/python/cache/test_kept_objects.py.

#include "python/discovery/object_parts.h"

#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"

namespace waybill::py {

namespace {

constexpr int kMaxTypeDepth = 8;  // Of generic types in each other.

// What a mapping proxy shows: it tells that to the garbage collector alone.
PyObject* mapping_of(PyObject* proxy) {
  PyObject* mapping = nullptr;
  const auto take = [](PyObject* object, void* found) {
    *static_cast<PyObject**>(found) = object;
    return 1;
  };
  PyDictProxy_Type.tp_traverse(proxy, take, &mapping);
  return mapping;
}

// Null if the alias is unpacked, as in `*tuple[int]`: it travels in another way.
Ref arguments_of_alias(PyObject* alias) {
  // Not by getattr, which would ask the class that it is of.
  const auto part = [&](const char* text) {
    const Ref name = Ref::steal(PyUnicode_InternFromString(text));
    return Ref::steal(PyObject_GenericGetAttr(alias, name.get()));
  };
  if (part("__unpacked__").get() != Py_False) return {};
  return Ref::steal(PyTuple_Pack(2, part("__origin__").get(), part("__args__").get()));
}

}  // namespace

Ref arguments_of(const State& state, PyObject* object) {
  if (is_wrapper(object)) return parts_of_wrapper(state, object);
  if (Py_IS_TYPE(object, &PyDictProxy_Type)) {
    PyObject* mapping = mapping_of(object);
    // That of a class is its vars(); what a mapping of another kind says is unknown.
    if (mapping == nullptr || !PyDict_CheckExact(mapping)) return {};
    return Ref::steal(PyTuple_Pack(1, mapping));
  }
  if (Py_IS_TYPE(object, &Py_GenericAliasType)) return arguments_of_alias(object);
  return {};
}

Py_ssize_t count_of(PyObject* container) {
  if (PyDict_CheckExact(container)) return PyDict_GET_SIZE(container);
  return PyAnySet_CheckExact(container) ? PySet_GET_SIZE(container)
                                        : Py_SIZE(container);
}

bool travels_as_members(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return is_taken_apart_by_layout(state, type) &&
         (is_laid_out_plainly(state.names, type) ||
          is_laid_out_in_slots(state.names, type));
}

bool find_own_dict(const State& state, PyObject* object, Ref& dict) {
  if (Py_TYPE(object)->tp_dictoffset == 0) return true;
  dict = instance_dict(object);
  // The object's, and ours.
  return !dict || (PyDict_CheckExact(dict.get()) && Py_REFCNT(dict.get()) <= 2 &&
                   !has_own_say(state.names, dict.get()));
}

GlobalName place_in_module(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const Ref type_name = Ref::steal(PyType_GetName(type));
  PyObject* row = raw_get(state.named_reducers.get(), type_name.get());
  if (row == nullptr) return {};
  const Ref home = Ref::share(raw_get(type_dict(type).get(), state.names.module.get()));
  if (!home || !PyUnicode_CheckExact(home.get()) ||
      raw_get(row, home.get()) != state.reduce_to_name.get()) {
    return {};
  }
  const Ref own = instance_dict(object);
  if (own && raw_get(own.get(), state.names.module.get()) != nullptr) return {};
  PyObject* module = find_module(state, home.get());
  if (module == nullptr) return {};
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(PyModule_GetDict(module), &position, &name, &value)) {
    if (value == object) return find_global(state, object, home.get(), name);
  }
  return {};
}

bool is_without_text(PyObject* annotation, int depth) {
  if (PyUnicode_Check(annotation) || depth == kMaxTypeDepth) return false;
  if (PyType_Check(annotation) || is_simple(annotation)) return true;
  if (!Py_IS_TYPE(annotation, &Py_GenericAliasType)) return false;
  const Ref arguments = arguments_of_alias(annotation);
  if (!arguments) return false;
  PyObject* inner = PyTuple_GET_ITEM(arguments.get(), 1);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inner); ++i) {
    if (!is_without_text(PyTuple_GET_ITEM(inner, i), depth + 1)) return false;
  }
  return true;
}

}  // namespace waybill::py
