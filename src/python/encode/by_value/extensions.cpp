// Tested by tests/python/modules/test_extensions_by_value.py.

#include "python/encode/by_value/by_value.h"

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

bool is_file_of_extension(PyObject* file) {
  if (file == nullptr || !PyUnicode_Check(file)) return false;
  const std::string path = text_of(file);
  return path.ends_with(".so") || path.ends_with(".pyd");
}

// The object that a method made in C is bound to, or the class that it is of.
PyObject* owner_in_c(PyObject* object) {
  if (PyCFunction_Check(object)) return PyCFunction_GET_SELF(object);
  PyTypeObject* type = Py_TYPE(object);
  const bool is_of_class = type == &PyMethodDescr_Type ||
                           type == &PyWrapperDescr_Type ||
                           type == &PyClassMethodDescr_Type ||
                           type == &PyMemberDescr_Type || type == &PyGetSetDescr_Type;
  return is_of_class ? as_object(PyDescr_TYPE(object)) : nullptr;
}

}  // namespace

bool Extensions::is_one(PyObject* module) const {
  if (!by_value_.any()) return false;
  PyObject* name = module_name(state_, module);
  if (name == nullptr || !is_file_of_extension(raw_get(PyModule_GetDict(module),
                                                       state_.names.file.get()))) {
    return false;
  }
  // One that the caller named itself is refused where it is met.
  const Ref package = parent_of(name);
  return package && by_value_.has_name(package.get());
}

PyObject* Extensions::of_type(PyTypeObject* type) {
  if (!by_value_.any()) return nullptr;
  auto* key = as_object(type);
  const auto [entry, is_new] = of_types_.try_emplace(key);
  if (!is_new) return entry->second.second.get();
  entry->second.first = Ref::share(key);
  for (PyTypeObject* of : {type, Py_TYPE(type)}) {
    for (PyTypeObject* base : order_of(of)) {
      if (base == &PyBaseObject_Type || base == &PyType_Type) continue;
      const Ref name = module_of_type(state_, base);
      PyObject* module = find_module(state_, name.get());
      if (module == nullptr || !is_one(module)) continue;
      entry->second.second = Ref::share(module);
      return module;
    }
  }
  return nullptr;
}

PyObject* Extensions::of_object(PyObject* object, GlobalName& name) {
  if (PyModule_Check(object)) return is_one(object) ? object : nullptr;
  if (PyType_Check(object)) {
    auto* type = as_type(object);
    PyObject* extension = of_type(type);
    if (extension != nullptr) name = find_type(state_, type);
    return extension;
  }
  if (PyObject* extension = of_type(Py_TYPE(object))) return extension;
  PyObject* owner = owner_in_c(object);
  if (owner == nullptr || PyModule_Check(owner)) return nullptr;
  return of_type(PyType_Check(owner) ? as_type(owner) : Py_TYPE(owner));
}

Ref Extensions::stand_in(PyObject* object, PyObject* extension, const GlobalName& name,
                         ImportCollector& imports) const {
  PyObject* missing = module_name(state_, extension);
  imports.add(missing, ImportTime::kCall, text_of(missing), {});
  PyObject* module = name.module ? module_name(state_, name.module.get()) : missing;
  PyObject* path = name.module ? name.path.get() : Py_None;
  return call(state_.stand_in_answer.get(), object, missing, module, path);
}

}  // namespace waybill::py
