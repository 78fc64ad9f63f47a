// Tested by tests/python/test_known_classes.py.

#include "python/known_class.h"

#include <algorithm>

#include "python/attribute.h"
#include "python/compat.h"
#include "python/modules.h"

namespace waybill::py {

std::span<const char* const> wrapped_in(PyObject* attribute) {
  static constexpr const char* kWrapped[] = {"__func__"};
  static constexpr const char* kAccessors[] = {"fget", "fset", "fdel"};
  if (Py_IS_TYPE(attribute, &PyClassMethod_Type) ||
      Py_IS_TYPE(attribute, &PyStaticMethod_Type)) {
    return kWrapped;
  }
  if (Py_IS_TYPE(attribute, &PyProperty_Type)) return kAccessors;
  return {};
}

Ref object_with_id(const State& state, PyObject* id) {
  PyObject* reference = raw_get(state.known_objects.get(), id);
  return reference == nullptr ? Ref() : weakly_referenced(reference);
}

Ref identified_object(const State& state, PyObject* id) {
  Ref object = object_with_id(state, id);
  if (object && raw_get(state.open_objects.get(), id) != nullptr) return {};
  return object;
}

bool KnownClass::note(const State& state, PyObject* type) {
  version_ = 0;
  methods_.clear();
  if (!PyType_Check(type) || identified_object(state, id_.get()).get() != type) {
    return false;
  }
  auto* cls = reinterpret_cast<PyTypeObject*>(type);
  const std::uint32_t version = assigned_version(cls, state.names.reduce_ex.get());
  if (version == 0) return false;
  type_ = Ref::steal(PyWeakref_NewRef(type, nullptr));
  const Ref dict = type_dict(cls);
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(dict.get(), &position, &name, &value)) {
    if (!note_functions(value)) return false;
  }
  version_ = version;  // All of it is there.
  return true;
}

// False if it is wrapped too often to be looked into.
bool KnownClass::note_functions(PyObject* attribute, int depth) {
  constexpr int kDeepest = 8;
  if (depth > kDeepest) return false;
  if (PyFunction_Check(attribute)) {
    methods_.push_back(
        {Ref::steal(PyWeakref_NewRef(attribute, nullptr)),
         Ref::steal(PyWeakref_NewRef(PyFunction_GET_CODE(attribute), nullptr))});
    return true;
  }
  return std::ranges::all_of(wrapped_in(attribute), [&](const char* name) {
    const Ref wrapped = Ref::steal(PyObject_GetAttrString(attribute, name));
    return note_functions(wrapped.get(), depth + 1);
  });
}

Ref KnownClass::find(const State& state) const {
  if (version_ == 0) return {};
  Ref type = weakly_referenced(type_.get());
  if (!type || type_version(reinterpret_cast<PyTypeObject*>(type.get())) != version_ ||
      identified_object(state, id_.get()).get() != type.get()) {
    return {};
  }
  for (const Method& method : methods_) {
    const Ref function = weakly_referenced(method.function.get());
    const Ref code = weakly_referenced(method.code.get());
    if (!function || !code || PyFunction_GET_CODE(function.get()) != code.get()) {
      return {};
    }
  }
  return type;
}

}  // namespace waybill::py
