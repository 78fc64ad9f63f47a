// What an extension module of a package by value makes. The module does not travel, and
// the sender has said that the receiver has it not. Classes need their bases at once,
// so a class with such a base cannot be sent. What code only refers to becomes a
// stand-in, which says what is missing when it is used.
// Tested by tests/python/modules/test_extensions_by_value.py.

#include "python/encode/graph_encoder.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
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
  return is_of_class ? reinterpret_cast<PyObject*>(PyDescr_TYPE(object)) : nullptr;
}

}  // namespace

bool GraphEncoder::is_extension_by_value(PyObject* module) {
  if (options_.hooks.by_value == nullptr) return false;
  PyObject* name = module_name(state_, module);
  if (name == nullptr || !is_file_of_extension(raw_get(PyModule_GetDict(module),
                                                       state_.names.file.get()))) {
    return false;
  }
  // One that the caller named itself is refused where it is met.
  const Ref package = parent_of(name);
  return package && has_name_or_parent(options_.hooks.by_value, package.get());
}

PyObject* GraphEncoder::extension_of(PyTypeObject* type) {
  auto* key = reinterpret_cast<PyObject*>(type);
  const auto [entry, is_new] = extensions_.try_emplace(key);
  if (!is_new) return entry->second.second.get();
  entry->second.first = Ref::share(key);
  for (PyTypeObject* of : {type, Py_TYPE(type)}) {
    PyObject* order = of->tp_mro;
    for (Py_ssize_t i = 0; order != nullptr && i < PyTuple_GET_SIZE(order); ++i) {
      auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(order, i));
      if (base == &PyBaseObject_Type || base == &PyType_Type) continue;
      const Ref name = module_of_type(state_, base);
      PyObject* module = find_module(state_, name.get());
      if (module == nullptr || !is_extension_by_value(module)) continue;
      entry->second.second = Ref::share(module);
      return module;
    }
  }
  return nullptr;
}

bool GraphEncoder::is_within_code() const {
  for (const Frame& frame : stack_) {
    PyObject* object = frame.object.get();
    if (PyFunction_Check(object) || PyType_Check(object) || PyModule_Check(object)) {
      return true;
    }
  }
  return false;
}

Ref GraphEncoder::stand_in_answer(PyObject* object, PyObject* extension,
                                  const GlobalName& name) {
  PyObject* missing = module_name(state_, extension);
  imports().add(missing, ImportTime::kCall, text_of(missing), {});
  PyObject* module = name.module ? module_name(state_, name.module.get()) : missing;
  PyObject* path = name.module ? name.path.get() : Py_None;
  return Ref::steal(PyObject_CallFunctionObjArgs(state_.stand_in_answer.get(), object,
                                                 missing, module, path, nullptr));
}

bool GraphEncoder::write_stand_in(PyObject* object) {
  if (options_.hooks.by_value == nullptr) return false;
  PyObject* extension = nullptr;
  GlobalName name;
  if (PyModule_Check(object)) {
    extension = is_extension_by_value(object) ? object : nullptr;
  } else if (PyType_Check(object)) {
    auto* type = reinterpret_cast<PyTypeObject*>(object);
    extension = extension_of(type);
    if (extension != nullptr) name = find_type(state_, type);
  } else {
    extension = extension_of(Py_TYPE(object));
    PyObject* owner = extension == nullptr ? owner_in_c(object) : nullptr;
    if (owner != nullptr && !PyModule_Check(owner)) {
      extension =
          extension_of(PyType_Check(owner) ? reinterpret_cast<PyTypeObject*>(owner)
                                           : Py_TYPE(owner));
    }
  }
  if (extension == nullptr || !is_within_code()) return false;
  const Ref answer = stand_in_answer(object, extension, name);
  return planned(object, answer.get());
}

}  // namespace waybill::py
