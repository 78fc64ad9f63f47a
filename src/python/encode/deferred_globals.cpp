// Methods of classes by value, and what they name. A package refers from nearly every
// class to nearly every other, and building what a method reaches may run code of the
// class that the method is of. So the methods of a class come first, without their
// globals, and then a function that nobody keeps brings what all of them name.
// Tested by tests/python/imports/test_order_of_need.py.

#include "python/encode/graph_encoder.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

// A new function with the globals and the code of a method that has no closure; null if
// the class has none of a module by value.
Ref GraphEncoder::new_carrier(PyObject* attributes) {
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(attributes, &position, &name, &value)) {
    if (!PyFunction_Check(value)) continue;
    auto* method = reinterpret_cast<PyFunctionObject*>(value);
    if (method->func_closure != nullptr) continue;
    PyObject* module = module_of_dict(state_, method->func_globals);
    if (module == nullptr || !is_by_value(module)) continue;
    const Ref code = Ref::share(method->func_code);
    const Ref globals = Ref::share(method->func_globals);
    return Ref::steal(PyFunction_New(code.get(), globals.get()));
  }
  return {};
}

Ref GraphEncoder::with_deferred_globals(PyObject* type, const Ref& attributes) {
  if (options_.hooks.by_value == nullptr) return attributes;
  PyObject* module = state_.names.module.get();
  if (raw_get(attributes.get(), module) != nullptr) return attributes;
  Ref carrier = new_carrier(attributes.get());
  if (!carrier) return attributes;
  const Ref items = Ref::steal(PyDict_Items(attributes.get()));
  Py_ssize_t last = 0;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyList_GET_ITEM(items.get(), i);
    if (is_method(PyTuple_GET_ITEM(item, 1))) last = i;
  }
  Ref whole = Ref::steal(PyDict_New());
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
    PyObject* item = PyList_GET_ITEM(items.get(), i);
    check(PyDict_SetItem(whole.get(), PyTuple_GET_ITEM(item, 0),
                         PyTuple_GET_ITEM(item, 1)));
    // A class has it already, so that to set it again does nothing.
    if (i == last) {
      check(PyDict_SetItem(whole.get(), module, carrier.get()));
    }
  }
  deferred_[type].carrier = std::move(carrier);
  return whole;
}

GraphEncoder::Deferred* GraphEncoder::deferred_here() {
  if (deferred_.empty()) return nullptr;
  const auto found = deferred_.find(stack_.innermost_class());
  return found == deferred_.end() ? nullptr : &found->second;
}

GraphEncoder::Deferred* GraphEncoder::deferred_for(PyObject* globals) {
  Deferred* deferred = deferred_here();
  if (deferred == nullptr || deferred->is_written) return nullptr;
  const bool is_its = PyFunction_GET_GLOBALS(deferred->carrier.get()) == globals;
  return is_its ? deferred : nullptr;
}

GraphEncoder::Deferred* GraphEncoder::deferred_of(PyObject* carrier) {
  Deferred* deferred = deferred_here();
  const bool is_it = deferred != nullptr && deferred->carrier.get() == carrier;
  return is_it ? deferred : nullptr;
}

bool GraphEncoder::write_deferred() {
  Deferred& deferred = *deferred_here();
  const Ref type = Ref::share(stack_.innermost_class());
  const Ref dict = type_dict(reinterpret_cast<PyTypeObject*>(type.get()));
  Ref name = Ref::share(raw_get(dict.get(), state_.names.module.get()));
  if (!name) name = Ref::share(Py_None);
  deferred.is_written = true;
  if (deferred.globals.empty() && deferred.modules.empty()) {
    return content(name.get());
  }
  const Ref arguments = Ref::steal(PyTuple_Pack(2, name.get(), deferred.carrier.get()));
  const Ref answer =
      Ref::steal(PyTuple_Pack(2, state_.with_globals.get(), arguments.get()));
  // None stands for what nothing refers to again.
  return planned(Py_None, answer.get());
}

}  // namespace waybill::py
