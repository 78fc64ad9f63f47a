// The last resort for objects that refuse to travel, such as locks: those that a module
// holds are found again by importing it, and then they are the receiver's own, which is
// what a lock or a cache of a module is for.
// Tested by tests/python/modules/test_module_globals.py.

#include <algorithm>

#include "python/encode/graph_encoder.h"
#include "python/runtime/attribute.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

// The module that defines the object's type, where its instances often sit.
PyObject* module_of_type(const State& state, PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  const Ref name = attribute_or_null(type, state.names.module);
  if (!name || !PyUnicode_Check(name.get())) return nullptr;
  PyObject* module = find_module(state, name.get());
  return module != nullptr && importable_name(state, module) != nullptr ? module
                                                                        : nullptr;
}

}  // namespace

bool GraphEncoder::write_as_global_in(PyObject* module, PyObject* object) {
  if (module == nullptr || is_by_value(module)) return false;
  PyObject* name = name_in(PyModule_GetDict(module), object);
  if (name == nullptr) return false;
  global({Ref::share(module), Ref::share(name)});
  return true;
}

bool GraphEncoder::write_as_global_of_function(PyObject* object) {
  if (stack_.empty() || !PyFunction_Check(stack_.back().object.get())) return false;
  PyObject* module =
      module_of_dict(state_, PyFunction_GET_GLOBALS(stack_.back().object.get()));
  return module != nullptr && importable_name(state_, module) != nullptr &&
         write_as_global_in(module, object);
}

GlobalName GraphEncoder::class_beside_function(PyObject* type) {
  PyObject* function = stack_.function_around();
  if (function == nullptr) return {};
  PyObject* module = module_of_dict(state_, PyFunction_GET_GLOBALS(function));
  if (module == nullptr) return {};
  const Ref path =
      Ref::steal(PyType_GetQualName(reinterpret_cast<PyTypeObject*>(type)));
  return find_global(state_, type, module_name(state_, module), path.get());
}

// Writes a type of `builtins` that is there under its name, as `object` and `property`
// are, which all classes have.
bool GraphEncoder::builtin_type(PyObject* object) {
  if (!PyType_CheckExact(object)) return false;
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  const std::string_view name = type->tp_name;
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) || name.find('.') != name.npos) {
    return false;
  }
  PyObject* builtins = find_module(state_, state_.names.builtins_plain.get());
  const Ref text = state_.intern_table.get(name);
  if (builtins == nullptr ||
      raw_get(PyModule_GetDict(builtins), text.get()) != object) {
    return false;
  }
  out_.node(wire::NodeTag::kGlobal, 2);
  out_.nil();
  write_text(text.get(), out_);
  return true;
}

bool GraphEncoder::write_as_global(PyObject* object) {
  // What "cannot pickle" says; any other error is the object's own decision.
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  const PendingError refusal;
  if (write_as_global_of_function(object) ||
      write_as_global_in(module_of_type(state_, object), object) ||
      write_fresh(object)) {
    return true;
  }
  refusal.restore();
  return false;
}

bool GraphEncoder::write_fresh(PyObject* object) {
  return options_.hooks.by_value != nullptr && is_within_code_by_value() &&
         write_anew(object);
}

bool GraphEncoder::write_anew(PyObject* object) {
  const Ref answer = Ref::steal(PyObject_CallOneArg(state_.fresh_global.get(), object));
  return answer.get() != Py_None && planned(object, answer.get());
}

// What such code holds was made by its module, not by the program that sends it.
bool GraphEncoder::is_within_code_by_value() {
  return std::ranges::any_of(stack_, [this](const Frame& frame) {
    PyObject* object = frame.object.get();
    if (PyModule_Check(object)) return is_by_value(object);
    if (PyFunction_Check(object)) {
      PyObject* module = module_of_dict(state_, PyFunction_GET_GLOBALS(object));
      return module != nullptr && is_by_value(module);
    }
    if (!PyType_Check(object)) return false;
    const Ref dict = type_dict(reinterpret_cast<PyTypeObject*>(object));
    PyObject* name = raw_get(dict.get(), state_.names.module.get());
    return name != nullptr && PyUnicode_Check(name) &&
           has_name_or_parent(options_.hooks.by_value, name);
  });
}

}  // namespace waybill::py
