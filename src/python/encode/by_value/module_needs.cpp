// Tested by tests/python/modules/test_by_value.py.

#include "python/encode/by_value/by_value.h"

#include <algorithm>
#include <unordered_set>

#include "python/runtime/compat.h"

namespace waybill::py {

ModuleNeeds::Module& ModuleNeeds::entry(PyObject* module) {
  Module& own = modules_[module];
  if (!own.module) {
    own.module = Ref::share(module);
    own.size = PyDict_GET_SIZE(PyModule_GetDict(module));
  }
  return own;
}

bool ModuleNeeds::begin(PyObject* module) {
  // Each time that it is begun once more, some of its names are new to the payload.
  constexpr Py_ssize_t kAdded = 300;
  Module& own = entry(module);
  return ++own.begun <= own.size + kAdded;
}

void ModuleNeeds::want(Module& own, PyObject* name) {
  if (!PyUnicode_CheckExact(name)) return;
  PyObject* dict = PyModule_GetDict(own.module.get());
  if (raw_get(dict, name) == nullptr) {
    PyObject* hook = state_.names.getattr_hook.get();
    if (raw_get(dict, hook) != nullptr) want_of_submodules(own.module.get(), name);
    name = hook;
  }
  own.is_asked = own.is_asked || !is_by_value(raw_get(dict, name));
  if (own.wanted.add(name)) own.waiting.push_back(Ref::share(name));
}

// Modules by value that a package has, and that have a name themselves: those that
// define what it means there or, if none does, all.
std::vector<PyObject*> ModuleNeeds::submodules_with(PyObject* package,
                                                    PyObject* name) const {
  std::vector<PyObject*> all, defining;
  PyObject* dict = PyModule_GetDict(package);
  for (const auto& [key, inner] : PairsOf(dict)) {
    if (!PyModule_Check(inner) || !by_value_.has(inner)) continue;
    PyObject* value = raw_get(PyModule_GetDict(inner), name);
    if (value == nullptr) continue;
    all.push_back(inner);
    PyObject* home = nullptr;
    if (PyFunction_Check(value)) {
      home = as_function(value)->func_module;
    } else if (PyType_Check(value)) {
      const Ref own = type_dict(as_type(value));
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
void ModuleNeeds::want_of_submodules(PyObject* package, PyObject* name) {
  for (PyObject* inner : submodules_with(package, name)) {
    Module& own = entry(inner);
    if (!own.wanted.add(name)) continue;
    own.waiting.push_back(Ref::share(name));
    own.is_found = true;
    asked_.push_back(own.module);
  }
}

bool ModuleNeeds::is_by_value(PyObject* value) const {
  return value != nullptr && PyModule_Check(value) && by_value_.has(value);
}

bool ModuleNeeds::is_of_importing(PyObject* module) const {
  PyObject* name = module_name(state_, module);
  if (importing_.empty() || name == nullptr) return false;
  const Ref package = first_part(name);
  return std::ranges::any_of(importing_, [&](const Ref& importing) {
    return PyUnicode_Compare(importing.get(), package.get()) == 0;
  });
}

void ModuleNeeds::complete(Module& own) {
  if (std::exchange(own.is_complete, true)) return;
  PyObject* dict = PyModule_GetDict(own.module.get());
  for (const auto& [name, value] : PairsOf(dict)) {
    if (!is_by_value(value)) want(own, name);
  }
}

// Asks for what is missing of modules that came before their package was one of these.
void ModuleNeeds::complete_importing(const std::vector<Ref>& importing) {
  if (importing.size() == importing_.size()) return;
  importing_ = importing;
  const std::size_t before = asked_.size();
  for (auto& [address, own] : modules_) {
    if (!own.is_found || !own.is_asked || !is_of_importing(address)) continue;
    complete(own);
    asked_.push_back(own.module);
  }
  // In an order that does not depend on addresses.
  std::sort(asked_.begin() + static_cast<std::ptrdiff_t>(before), asked_.end(),
            [&](const Ref& a, const Ref& b) {
              return PyUnicode_Compare(module_name(state_, a.get()),
                                       module_name(state_, b.get())) < 0;
            });
}

std::vector<Ref> ModuleNeeds::modules_to_bring(const std::vector<ModuleNeed>& needs,
                                               const std::vector<Ref>& importing) {
  complete_importing(importing);
  std::vector<Ref> brought;
  // Names of one submodule ask for it each, and code may need it besides.
  std::unordered_set<PyObject*> seen;
  const auto bring = [&](const Ref& module) {
    if (seen.insert(module.get()).second) brought.push_back(module);
  };
  for (const ModuleNeed& need : needs) {
    if (extensions_.is_one(need.module.get())) continue;
    Module& own = entry(need.module.get());
    own.is_whole = own.is_whole || need.is_whole;
    for (const Ref& name : need.names) want(own, name.get());
    if (own.is_asked && is_of_importing(need.module.get())) complete(own);
    const bool is_complete = own.is_found && unwritten(need.module.get()).empty();
    own.is_found = true;
    if (!is_complete) bring(need.module);
  }
  std::ranges::for_each(asked_, bring);
  asked_.clear();
  return brought;
}

std::vector<std::pair<Ref, Ref>> ModuleNeeds::unwritten(PyObject* module) {
  PyObject* dict = PyModule_GetDict(module);
  const Names& names = state_.names;
  // What a module has without its code.
  const Ref* const given[] = {&names.name,     &names.package, &names.path,
                              &names.builtins, &names.spec,    &names.loader,
                              &names.cached};
  WrittenNames& written = written_.names_of(dict);
  std::vector<std::pair<Ref, Ref>> found;
  const auto look_at = [&](PyObject* name, PyObject* value) {
    const auto is_name = [&](const Ref* other) {
      return PyUnicode_Compare(name, other->get()) == 0;
    };
    if (!written.has(name) && std::ranges::none_of(given, is_name)) {
      found.emplace_back(Ref::share(name), Ref::share(value));
    }
  };
  Module& own = entry(module);
  if (own.is_whole) {
    for (const auto& [name, value] : PairsOf(dict)) {
      if (PyUnicode_CheckExact(name)) look_at(name, value);
    }
    return found;
  }
  std::erase_if(own.waiting, [&](const Ref& name) { return written.has(name.get()); });
  for (const Ref& name : own.waiting) {
    if (PyObject* value = raw_get(dict, name.get())) look_at(name.get(), value);
  }
  return found;
}

int ModuleNeeds::traverse(visitproc visitor, void* arg) const {
  for (const auto& [address, own] : modules_) {
    if (const int stop = visit(own.module, visitor, arg)) return stop;
  }
  return 0;
}

}  // namespace waybill::py
