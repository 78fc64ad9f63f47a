// Tested by tests/python/modules/test_by_value.py.

#include "python/encode/by_value/by_value.h"

#include <algorithm>
#include <unordered_set>

#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
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

// The object to which a method in C is bound, or the class to which it belongs.
PyObject* owner_in_c(PyObject* object) {
  if (PyCFunction_Check(object)) return PyCFunction_GET_SELF(object);
  PyTypeObject* type = Py_TYPE(object);
  const bool is_of_class = type == &PyMethodDescr_Type ||
                           type == &PyWrapperDescr_Type ||
                           type == &PyClassMethodDescr_Type ||
                           type == &PyMemberDescr_Type || type == &PyGetSetDescr_Type;
  return is_of_class ? as_object(PyDescr_TYPE(object)) : nullptr;
}

// Whether a module is a submodule of another. A module that is sent whole contains its
// submodules whole, but only the needed parts of other modules.
bool is_submodule(const State& state, PyObject* package, PyObject* module) {
  PyObject* outer = module_name(state, package);
  PyObject* inner = module_name(state, module);
  if (outer == nullptr || inner == nullptr) return true;
  const Ref start = Ref::steal(PyUnicode_FromFormat("%U.", outer));
  return PyUnicode_Tailmatch(inner, start.get(), 0, PY_SSIZE_T_MAX, -1) == 1;
}

}  // namespace

bool ModulesByValue::has(PyObject* module) const {
  PyObject* name = names_ == nullptr ? nullptr : module_name(state_, module);
  return name != nullptr && has_name_or_parent(names_, name);
}

PyObject* ModulesByValue::module_with_globals(PyObject* globals) const {
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

// Adds the local modules that an import statement of a module by value names.
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
  if (module_with_globals(globals) == nullptr) return;
  for (const GlobalUse& use : info.globals) {
    if (const Ref value = Ref::share(raw_get(globals, use.name))) {
      add_module_of(value.get());
    }
  }
  add_imported(function, info);
}

bool Extensions::is_extension(PyObject* module) const {
  if (!by_value_.any()) return false;
  PyObject* name = module_name(state_, module);
  if (name == nullptr || !is_file_of_extension(raw_get(PyModule_GetDict(module),
                                                       state_.names.file.get()))) {
    return false;
  }
  // An extension that the caller has named itself is refused when it is written.
  const Ref package = parent_of(name);
  return package && by_value_.has_name(package.get());
}

PyObject* Extensions::extension_of_type(PyTypeObject* type) {
  if (!by_value_.any()) return nullptr;
  auto* key = as_object(type);
  const auto [entry, is_new] = of_types_.try_emplace(key);
  if (!is_new) return entry->second.second.get();
  entry->second.first = Ref::share(key);
  for (PyTypeObject* of : {type, Py_TYPE(type)}) {
    for (PyTypeObject* base : mro_of(of)) {
      if (base == &PyBaseObject_Type || base == &PyType_Type) continue;
      const Ref name = module_of_type(state_, base);
      PyObject* module = find_module(state_, name.get());
      if (module == nullptr || !is_extension(module)) continue;
      entry->second.second = Ref::share(module);
      return module;
    }
  }
  return nullptr;
}

PyObject* Extensions::extension_of(PyObject* object, GlobalName& name) {
  if (PyModule_Check(object)) return is_extension(object) ? object : nullptr;
  if (PyType_Check(object)) {
    auto* type = as_type(object);
    PyObject* extension = extension_of_type(type);
    if (extension != nullptr) name = find_type(state_, type);
    return extension;
  }
  if (PyObject* extension = extension_of_type(Py_TYPE(object))) return extension;
  PyObject* owner = owner_in_c(object);
  if (owner == nullptr || PyModule_Check(owner)) return nullptr;
  return extension_of_type(PyType_Check(owner) ? as_type(owner) : Py_TYPE(owner));
}

Ref Extensions::stand_in(PyObject* object, PyObject* extension, const GlobalName& name,
                         ImportCollector& imports) const {
  PyObject* missing = module_name(state_, extension);
  imports.add(missing, ImportTime::kCall, text_of(missing), {});
  PyObject* module = name.module ? module_name(state_, name.module.get()) : missing;
  PyObject* path = name.module ? name.path.get() : Py_None;
  return call(state_.reduce_to_stand_in.get(), object, missing, module, path);
}

ModuleNeeds::Module& ModuleNeeds::entry(PyObject* module) {
  Module& own = modules_[module];
  if (!own.module) {
    own.module = Ref::share(module);
    own.size = PyDict_GET_SIZE(PyModule_GetDict(module));
  }
  return own;
}

bool ModuleNeeds::begin(PyObject* module) {
  // Each further start writes at least one new name, so without changes of the module
  // there are at most as many starts as names.
  constexpr Py_ssize_t kMaxAddedNames = 300;
  Module& own = entry(module);
  return ++own.begin_count <= own.size + kMaxAddedNames;
}

void ModuleNeeds::want(Module& own, PyObject* name) {
  if (!PyUnicode_CheckExact(name)) return;
  PyObject* dict = PyModule_GetDict(own.module.get());
  if (raw_get(dict, name) == nullptr) {
    PyObject* hook = state_.names.getattr_hook.get();
    if (raw_get(dict, hook) != nullptr) want_of_submodules(own.module.get(), name);
    name = hook;
  }
  own.wants_own_name = own.wants_own_name || !is_by_value(raw_get(dict, name));
  if (own.wanted.add(name)) own.waiting.push_back(Ref::share(name));
}

// The modules by value in a package that have a global `name`: those that define its
// value or, if none does, all.
std::vector<PyObject*> ModuleNeeds::submodules_with(PyObject* package,
                                                    PyObject* name) const {
  std::vector<PyObject*> all, defining;
  PyObject* dict = PyModule_GetDict(package);
  for (const auto& [key, inner] : DictItems(dict)) {
    if (!PyModule_Check(inner) || !by_value_.has(inner)) continue;
    PyObject* value = raw_get(PyModule_GetDict(inner), name);
    if (value == nullptr) continue;
    all.push_back(inner);
    PyObject* home = nullptr;
    if (PyFunction_Check(value)) {
      home = as_function(value)->func_module;
    } else if (PyType_Check(value)) {
      home = raw_get(as_type(value), state_.names.module.get());
    }
    PyObject* own_name = module_name(state_, inner);
    if (home != nullptr && own_name != nullptr && PyUnicode_Check(home) &&
        PyUnicode_Compare(home, own_name) == 0) {
      defining.push_back(inner);
    }
  }
  return defining.empty() ? all : defining;
}

// The __getattr__ of a package may return a missing name from a submodule that has it.
void ModuleNeeds::want_of_submodules(PyObject* package, PyObject* name) {
  for (PyObject* inner : submodules_with(package, name)) {
    Module& own = entry(inner);
    if (!own.wanted.add(name)) continue;
    own.waiting.push_back(Ref::share(name));
    own.is_sent = true;
    further_modules_.push_back(own.module);
  }
}

bool ModuleNeeds::is_by_value(PyObject* value) const {
  return value != nullptr && PyModule_Check(value) && by_value_.has(value);
}

bool ModuleNeeds::is_of_importing(PyObject* module) const {
  PyObject* name = module_name(state_, module);
  if (importing_packages_.empty() || name == nullptr) return false;
  const Ref package = first_part(name);
  return std::ranges::any_of(importing_packages_, [&](const Ref& importing) {
    return PyUnicode_Compare(importing.get(), package.get()) == 0;
  });
}

void ModuleNeeds::complete(Module& own) {
  if (std::exchange(own.is_complete, true)) return;
  PyObject* dict = PyModule_GetDict(own.module.get());
  for (const auto& [name, value] : DictItems(dict)) {
    if (!is_by_value(value)) want(own, name);
  }
}

// Completes modules that were sent before their package was in `importing_packages_`.
void ModuleNeeds::complete_importing(const std::vector<Ref>& importing) {
  if (importing.size() == importing_packages_.size()) return;
  importing_packages_ = importing;
  const std::size_t before = further_modules_.size();
  for (auto& [address, own] : modules_) {
    if (!own.is_sent || !own.wants_own_name || !is_of_importing(address)) continue;
    complete(own);
    further_modules_.push_back(own.module);
  }
  // Sorted by name, so that the order does not depend on addresses.
  std::sort(further_modules_.begin() + static_cast<std::ptrdiff_t>(before),
            further_modules_.end(), [&](const Ref& a, const Ref& b) {
              return PyUnicode_Compare(module_name(state_, a.get()),
                                       module_name(state_, b.get())) < 0;
            });
}

std::vector<Ref> ModuleNeeds::modules_to_send(const std::vector<ModuleNeed>& needs,
                                              const std::vector<Ref>& importing) {
  complete_importing(importing);
  std::vector<Ref> sent;
  // A module can be both in `needs` and, several times, in `further_modules_`.
  std::unordered_set<PyObject*> added;
  const auto add = [&](const Ref& module) {
    if (added.insert(module.get()).second) sent.push_back(module);
  };
  for (const ModuleNeed& need : needs) {
    if (extensions_.is_extension(need.module.get())) continue;
    Module& own = entry(need.module.get());
    own.is_whole = own.is_whole || need.is_whole;
    for (const Ref& name : need.names) want(own, name.get());
    if (own.wants_own_name && is_of_importing(need.module.get())) complete(own);
    const bool is_complete = own.is_sent && unwritten(need.module.get()).empty();
    own.is_sent = true;
    if (!is_complete) add(need.module);
  }
  std::ranges::for_each(further_modules_, add);
  further_modules_.clear();
  return sent;
}

std::vector<std::pair<Ref, Ref>> ModuleNeeds::unwritten(PyObject* module) {
  PyObject* dict = PyModule_GetDict(module);
  const Names& names = state_.names;
  // Names that the import system sets.
  const Ref* const given[] = {&names.name,     &names.package, &names.path,
                              &names.builtins, &names.spec,    &names.loader,
                              &names.cached};
  WrittenNames& written = written_.names_of(dict);
  std::vector<std::pair<Ref, Ref>> found;
  const auto add_if_unwritten = [&](PyObject* name, PyObject* value) {
    const auto is_name = [&](const Ref* other) {
      return PyUnicode_Compare(name, other->get()) == 0;
    };
    if (!written.has(name) && std::ranges::none_of(given, is_name)) {
      found.emplace_back(Ref::share(name), Ref::share(value));
    }
  };
  Module& own = entry(module);
  if (own.is_whole) {
    for (const auto& [name, value] : DictItems(dict)) {
      if (PyUnicode_CheckExact(name)) add_if_unwritten(name, value);
    }
    return found;
  }
  std::erase_if(own.waiting, [&](const Ref& name) { return written.has(name.get()); });
  for (const Ref& name : own.waiting) {
    if (PyObject* value = raw_get(dict, name.get())) {
      add_if_unwritten(name.get(), value);
    }
  }
  return found;
}

int ModuleNeeds::traverse(visitproc visitor, void* arg) const {
  for (const auto& [address, own] : modules_) {
    if (const int stop = visit(own.module, visitor, arg)) return stop;
  }
  return 0;
}

void describe_module(EncodeContext& context, PyObject* module, Plan& plan) {
  if (!context.needs.begin(module)) {
    context.fail(
        "gets new names without end while it is sent, for example from reducers");
  }
  context.out.node(wire::NodeTag::kModule, 3);
  write_namespace(context, PyModule_GetDict(module));
  const bool is_by_value = context.by_value.has(module);
  const bool is_part = !context.needs.is_needed_whole(module);
  std::vector<std::pair<Ref, Ref>> found = context.needs.unwritten(module);
  if (is_by_value) {
    for (const auto& [key, held] : found) context.by_value.add_module_of(held.get());
  }
  plan.raw().map(found.size());
  for (auto& [key, held] : found) {
    write_text(key.get(), plan.raw());
    const bool is_module =
        PyModule_Check(held.get()) && context.by_value.is_sent_in_parts(held.get()) &&
        (is_part || !is_submodule(context.state, module, held.get()));
    plan.add_child(std::move(held), Label::of_attribute(key.get()));
    plan.mark_last_global();
    if (is_module) plan.mark_last_part();
  }
  plan.raw().boolean(is_part);
}

}  // namespace waybill::py
