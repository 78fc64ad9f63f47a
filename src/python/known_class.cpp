// Tested by tests/python/test_known_classes.py.

#include "python/known_class.h"

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

Ref identified_object(const State& state, PyObject* id) {
  PyObject* reference = raw_get(state.known_objects.get(), id);
  if (reference == nullptr || raw_get(state.open_objects.get(), id) != nullptr) {
    return {};
  }
  return weakly_referenced(reference);
}

bool KnownClass::note(const State& state, PyObject* type) {
  version_ = 0;
  methods_.clear();
  if (!PyType_Check(type) || identified_object(state, id_.get()).get() != type) {
    return false;
  }
  // A type gets its version when something is looked up in it; what its metaclass
  // answers by itself is not.
  Ref::steal(PyObject_GetAttr(type, state.names.reduce_ex.get()));
  auto* cls = reinterpret_cast<PyTypeObject*>(type);
  const std::uint32_t version = type_version(cls);
  if (version == 0) return false;
  type_ = Ref::steal(PyWeakref_NewRef(type, nullptr));
  const Ref dict = type_dict(cls);
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(dict.get(), &position, &name, &value)) note_functions(value);
  version_ = version;  // All of it is there.
  return true;
}

void KnownClass::note_functions(PyObject* attribute) {
  if (PyFunction_Check(attribute)) {
    methods_.push_back(
        {Ref::steal(PyWeakref_NewRef(attribute, nullptr)),
         Ref::steal(PyWeakref_NewRef(PyFunction_GET_CODE(attribute), nullptr))});
    return;
  }
  for (const char* name : wrapped_in(attribute)) {
    const Ref function = Ref::steal(PyObject_GetAttrString(attribute, name));
    if (PyFunction_Check(function.get())) note_functions(function.get());
  }
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
