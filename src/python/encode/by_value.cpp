// Modules whose functions and classes travel by value although they could be imported:
// those that the caller named, their submodules, and local modules that code of theirs
// uses. Of modules that a body imports or names, that comes along with the function
// which its code can ask for: what the bytecode tells, or all. waybill._modules serves
// such modules where the payload arrives. Tested by
// tests/python/modules/test_by_value.py.

#include <algorithm>
#include <iterator>

#include "python/discovery/body_imports.h"
#include "python/encode/graph_encoder.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"
#include "python/runtime/modules.h"

namespace waybill::py {

bool GraphEncoder::is_by_value(PyObject* module) {
  PyObject* modules = options_.hooks.by_value;
  PyObject* name = modules == nullptr ? nullptr : module_name(state_, module);
  return name != nullptr && has_name_or_parent(modules, name);
}

bool GraphEncoder::is_of_module_by_value(PyObject* globals) {
  if (options_.hooks.by_value == nullptr) return is_of_made_up_module(state_, globals);
  PyObject* module = module_of_dict(state_, globals);
  return module == nullptr || importable_name(state_, module) == nullptr
             ? is_of_made_up_module(state_, globals)
             : is_by_value(module);
}

void GraphEncoder::add_companion(PyObject* object) {
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
  if (!module || is_by_value(module.get())) return;
  const Ref name = Ref::share(importable_name(state_, module.get()));
  if (!name) return;
  const Ref is_local =
      Ref::steal(PyObject_CallOneArg(state_.is_local.get(), module.get()));
  if (is_local.get() == Py_True) check(PySet_Add(options_.hooks.by_value, name.get()));
}

// An import statement of a module by value may name a local one.
void GraphEncoder::add_imported(PyObject* name) {
  for (Ref part = Ref::share(name); part; part = parent_of(part.get())) {
    if (const Ref module = Ref::share(find_module(state_, part.get()))) {
      add_companion(module.get());
    }
  }
}

void GraphEncoder::add_imported(PyObject* function, const CodeInfo& info) {
  for (const BodyImport& statement : info.summary.imports) {
    const Ref name = absolute_name(state_, function, info, statement);
    if (!name) continue;
    add_imported(name.get());
    if (statement.from_names == kNoIndex) continue;
    PyObject* items = info.constant_at(statement.from_names);
    for (Py_ssize_t i = 0; PyTuple_Check(items) && i < PyTuple_GET_SIZE(items); ++i) {
      const Ref part = Ref::steal(
          PyUnicode_FromFormat("%U.%S", name.get(), PyTuple_GET_ITEM(items, i)));
      add_imported(part.get());
    }
  }
  for (const CodeInfo* nested : info.nested) add_imported(function, *nested);
}

void GraphEncoder::add_local_modules(PyObject* function, const CodeInfo& info) {
  if (options_.hooks.by_value == nullptr) return;
  PyObject* globals = PyFunction_GET_GLOBALS(function);
  PyObject* module = module_of_dict(state_, globals);
  if (module == nullptr || !is_by_value(module)) return;
  for (const GlobalUse& use : info.globals) {
    if (const Ref value = Ref::share(raw_get(globals, use.name))) {
      add_companion(value.get());
    }
  }
  add_imported(function, info);
}

// What annotations name may reach a whole package, and matters to nobody but who asks
// for type hints.
bool GraphEncoder::is_known_to_receiver(PyObject* globals, PyObject* value) {
  if (options_.hooks.by_value == nullptr) return true;
  PyObject* owner = module_of_dict(state_, globals);
  if (owner == nullptr || !is_by_value(owner)) return true;
  if (is_simple(value) || memo_.find(key_of(value)) != nullptr) return true;
  GlobalName name;
  if (PyModule_Check(value)) return !is_by_value(value);
  if (PyType_Check(value)) {
    name = find_type(state_, reinterpret_cast<PyTypeObject*>(value));
  } else if (PyFunction_Check(value)) {
    name = find_function(state_, value);
  } else {
    PyObject* typing = find_module(state_, state_.names.typing.get());
    return typing != nullptr && name_in(PyModule_GetDict(typing), value) != nullptr;
  }
  return name.module && !is_by_value(name.module.get());
}

GraphEncoder::OwnModule& GraphEncoder::own_module_entry(PyObject* module) {
  OwnModule& own = own_modules_[module];
  if (!own.module) own.module = Ref::share(module);
  return own;
}

void GraphEncoder::want(OwnModule& own, PyObject* name) {
  if (!PyUnicode_CheckExact(name)) return;
  PyObject* dict = PyModule_GetDict(own.module.get());
  if (raw_get(dict, name) == nullptr) {
    PyObject* hook = state_.names.getattr_hook.get();
    if (raw_get(dict, hook) != nullptr) want_of_submodules(own.module.get(), name);
    name = hook;
  }
  if (own.wanted.add(name)) own.waiting.push_back(Ref::share(name));
}

// Modules by value that a package has, and that have a name themselves: those that
// define what it means there or, if none does, all.
std::vector<PyObject*> GraphEncoder::submodules_with(PyObject* package,
                                                     PyObject* name) {
  std::vector<PyObject*> all, defining;
  PyObject* dict = PyModule_GetDict(package);
  Py_ssize_t position = 0;
  PyObject *key, *inner;
  while (PyDict_Next(dict, &position, &key, &inner)) {
    if (!PyModule_Check(inner) || !is_by_value(inner)) continue;
    PyObject* value = raw_get(PyModule_GetDict(inner), name);
    if (value == nullptr) continue;
    all.push_back(inner);
    PyObject* home = nullptr;
    if (PyFunction_Check(value)) {
      home = reinterpret_cast<PyFunctionObject*>(value)->func_module;
    } else if (PyType_Check(value)) {
      const Ref own = type_dict(reinterpret_cast<PyTypeObject*>(value));
      home = raw_get(own.get(), state_.names.module.get());
    }
    PyObject* own_name = module_name(state_, inner);
    if (home != nullptr && own_name != nullptr && PyUnicode_Check(home) &&
        PyUnicode_Compare(home, own_name) == 0) {
      defining.push_back(inner);
    }
  }
  return defining.empty() ? all : defining;
}

// What a package's dict has not its __getattr__ may take, when it is asked, from a
// submodule that has it under this name.
void GraphEncoder::want_of_submodules(PyObject* package, PyObject* name) {
  for (PyObject* inner : submodules_with(package, name)) {
    OwnModule& own = own_module_entry(inner);
    if (!own.wanted.add(name)) continue;
    own.waiting.push_back(Ref::share(name));
    own.is_found = true;
    asked_.push_back(own.module);
  }
}

std::vector<Ref> GraphEncoder::modules_to_bring() {
  std::vector<Ref> brought;
  for (const ModuleNeed& need : imports().take_needs()) {
    if (is_extension_by_value(need.module.get())) continue;
    OwnModule& own = own_module_entry(need.module.get());
    own.is_whole = own.is_whole || need.is_whole;
    for (const Ref& name : need.names) want(own, name.get());
    const bool is_complete = own.is_found && unwritten(need.module.get()).empty();
    own.is_found = true;
    if (!is_complete) brought.push_back(need.module);
  }
  std::ranges::move(asked_, std::back_inserter(brought));
  asked_.clear();
  return brought;
}

bool GraphEncoder::own_module(PyObject* module) {
  if (is_extension_by_value(module)) return !known(key_of(module)) && other(module);
  const std::uintptr_t key = key_of(module);
  if (memo_.find(key) == nullptr || unwritten(module).empty()) {
    return !known(key) && other(module);
  }
  return other(module);
}

bool GraphEncoder::part_of_module(PyObject* module) {
  current_ = module;
  if (options_.hooks.persistent_id != nullptr && persistent(module)) return true;
  return own_module(module);
}

void GraphEncoder::begin_global(const Frame& frame, PyObject* name) {
  PyObject* owner = frame.object.get();
  written_globals(PyModule_Check(owner) ? PyModule_GetDict(owner)
                                        : PyFunction_GET_GLOBALS(owner))
      .add(name);
}

}  // namespace waybill::py
