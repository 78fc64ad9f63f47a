// Tested by tests/python/modules/test_by_value.py.

#include "python/encode/by_value/by_value.h"

#include "python/runtime/attribute.h"

namespace waybill::py {

bool ModulesByValue::has(PyObject* module) const {
  PyObject* name = names_ == nullptr ? nullptr : module_name(state_, module);
  return name != nullptr && has_name_or_parent(names_, name);
}

PyObject* ModulesByValue::with_globals(PyObject* globals) const {
  if (names_ == nullptr) return nullptr;
  PyObject* module = module_of_dict(state_, globals);
  return module != nullptr && has(module) ? module : nullptr;
}

void ModulesByValue::add_module_of(PyObject* object) {
  Ref module;
  if (PyModule_Check(object)) {
    module = Ref::share(object);
  } else if (PyFunction_Check(object)) {
    module = Ref::share(module_of_dict(state_, PyFunction_GET_GLOBALS(object)));
  } else if (PyType_Check(object)) {
    const Ref name = attribute_or_null(object, state_.names.module);
    if (name && PyUnicode_Check(name.get())) {
      module = Ref::share(find_module(state_, name.get()));
    }
  }
  if (!module || has(module.get())) return;
  const Ref name = Ref::share(importable_name(state_, module.get()));
  if (!name) return;
  const Ref is_local = call(state_.is_local.get(), module.get());
  if (is_local.get() == Py_True) check(PySet_Add(names_, name.get()));
}

// An import statement of a module by value may name a local one.
void ModulesByValue::add_imported(PyObject* name) {
  for (Ref part = Ref::share(name); part; part = parent_of(part.get())) {
    if (const Ref module = Ref::share(find_module(state_, part.get()))) {
      add_module_of(module.get());
    }
  }
}

void ModulesByValue::add_imported(PyObject* function, const CodeInfo& info) {
  for (const BodyImport& statement : info.summary.imports) {
    const Ref name = absolute_name(state_, function, info, statement);
    if (!name) continue;
    add_imported(name.get());
    if (statement.from_names == kNoIndex) continue;
    PyObject* items = info.constant_at(statement.from_names);
    if (!PyTuple_Check(items)) continue;
    for (PyObject* item : items_of(items)) {
      const Ref part = Ref::steal(PyUnicode_FromFormat("%U.%S", name.get(), item));
      add_imported(part.get());
    }
  }
  for (const CodeInfo* nested : info.nested) add_imported(function, *nested);
}

void ModulesByValue::add_modules_of_code(PyObject* function, const CodeInfo& info) {
  PyObject* globals = PyFunction_GET_GLOBALS(function);
  if (with_globals(globals) == nullptr) return;
  for (const GlobalUse& use : info.globals) {
    if (const Ref value = Ref::share(raw_get(globals, use.name))) {
      add_module_of(value.get());
    }
  }
  add_imported(function, info);
}

}  // namespace waybill::py
