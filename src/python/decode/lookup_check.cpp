// Tested by tests/python/untrusted/test_policy_names.py.

#include "python/decode/lookup_check.h"

#include <string>
#include <string_view>
#include <utility>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/py_error.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

std::string text_or_nothing(PyObject* text) {
  return text == nullptr || !PyUnicode_Check(text) ? std::string() : text_of(text);
}

using OwnName = DeniedNames::Name;

OwnName own_name(const State& state, PyTypeObject* type) {
  return {module_of_type(state, type), Ref::steal(PyType_GetQualName(type))};
}

// The name of a method of a type.
OwnName method_name(const State& state, PyTypeObject* type, PyObject* method) {
  OwnName own = own_name(state, type);
  const Ref name = get_attribute(method, state.names.name);
  own.name = Ref::steal(PyUnicode_FromFormat("%U.%U", own.name.get(), name.get()));
  return own;
}

// The module and name of an object, if its type guarantees that they are true; for
// other callable objects the name of the type. Runs no foreign code.
OwnName own_name(const State& state, PyObject* object) {
  if (PyMethod_Check(object)) return own_name(state, PyMethod_GET_FUNCTION(object));
  if (PyType_Check(object)) {
    return own_name(state, as_type(object));
  }
  if (PyCFunction_CheckExact(object)) {
    PyObject* self = PyCFunction_GET_SELF(object);
    if (self != nullptr && PyType_Check(self)) {
      return method_name(state, as_type(self), object);
    }
    if (self != nullptr && !PyModule_Check(self)) {
      return method_name(state, Py_TYPE(self), object);
    }
  } else if (!PyFunction_Check(object)) {
    return PyCallable_Check(object) != 0 ? own_name(state, Py_TYPE(object)) : OwnName();
  }
  return {get_attribute(object, state.names.module),
          get_attribute(object, state.names.qualname)};
}

}  // namespace

const std::vector<DeniedNames::Name>& DeniedNames::find(PyObject* object) {
  static const std::vector<Name> kNone;
  if (gate_ == nullptr) return kNone;
  PyObject* loaded = sys_modules(state_);
  if (loaded == nullptr) return kNone;
  if (PyDict_GET_SIZE(loaded) != modules_seen_) {
    modules_seen_ = PyDict_GET_SIZE(loaded);
    find_all(loaded);
  }
  const auto found = names_.find(object);
  return found == names_.end() ? kNone : found->second;
}

void DeniedNames::find_all(PyObject* loaded) {
  names_.clear();
  held_.clear();
  for (const auto& policy : gate_->policies()) {
    for (const Rule& rule : policy->rules()) {
      if (rule.allows || rule.request == Request::kCode) continue;
      const std::string module = rule.module.text();
      if (!module.ends_with('*')) {
        add_module(loaded, new_text(module).get(), rule);
      } else if (rule.module != NamePattern()) {
        for (const auto& [name, _] : DictItems(loaded)) {
          if (PyUnicode_Check(name) && rule.module.matches(text_of(name))) {
            add_module(loaded, name, rule);
          }
        }
      }
    }
  }
}

void DeniedNames::add_module(PyObject* loaded, PyObject* module_name,
                             const Rule& rule) {
  PyObject* module = module_in(state_, loaded, module_name);
  if (module == nullptr) return;
  if (rule.name != NamePattern()) {
    std::string path = rule.name.text();
    path = path.substr(0, path.find(".*"));
    const Ref name = new_text(path);
    const Ref object = find_by_path(state_, module_name, name.get());
    if (object) add(object.get(), module_name, name.get());
    return;
  }
  add(module, module_name, nullptr);
  PyObject* members = PyModule_GetDict(module);
  const Ref exported = Ref::share(raw_get(members, new_text("__all__").get()));
  const bool has_list =
      exported && (PyList_Check(exported.get()) || PyTuple_Check(exported.get()));
  for (const auto& [name, value] : DictItems(members)) {
    if (!PyUnicode_CheckExact(name) || PyModule_Check(value)) continue;
    const Ref own = own_name(state_, value).module;
    if (!own || !PyUnicode_Check(own.get())) continue;
    const bool is_own = PyUnicode_Compare(own.get(), module_name) == 0;
    const bool is_builtin =
        PyUnicode_CompareWithASCIIString(own.get(), "builtins") == 0;
    const bool is_listed = has_list && !is_builtin &&
                           check(PySequence_Contains(exported.get(), name)) == 1;
    if (is_own || is_listed) add(value, module_name, name);
  }
}

void DeniedNames::add(PyObject* object, PyObject* module, PyObject* name) {
  if (PyCallable_Check(object) == 0 && !PyModule_Check(object)) return;
  held_.push_back(Ref::share(object));
  names_[object].push_back({Ref::share(module), Ref::share(name)});
}

void LookupCheck::demand(Request request, PyObject* module, PyObject* name) const {
  auto refusal =
      gate_->refusal(request, text_or_nothing(module), text_or_nothing(name));
  if (!refusal) return;
  raise_decode(state_, ErrorCode::kRefused, offset_,
               *std::move(refusal) + "; the payload calls it " +
                   text_or_nothing(module_) + (name_ == nullptr ? "" : ":") +
                   text_or_nothing(name_));
}

// The most powerful use that the policy allows for the name.
Request LookupCheck::strongest_use() const {
  const bool can_be_called =
      !gate_->refusal(Request::kCall, text_of(module_), text_or_nothing(name_));
  return can_be_called ? Request::kCall : Request::kLookup;
}

void LookupCheck::check_renamed(PyObject* module, PyObject* name) const {
  if (gate_ != nullptr) demand(strongest_use(), module, name);
}

void LookupCheck::check_module(PyObject* module) const {
  if (gate_ == nullptr) return;
  PyObject* own = module_name(state_, module);
  if (own != nullptr && PyUnicode_Compare(own, module_) != 0)
    demand(strongest_use(), own, name_);
  for (const DeniedNames::Name& denied : denied_.find(module)) {
    demand(strongest_use(), denied.module.get(), name_);
  }
}

void LookupCheck::check_step(PyObject* object, PyObject* rest) const {
  if (gate_ == nullptr || !PyModule_Check(object)) return;
  demand(strongest_use(), module_name(state_, object), rest);
  for (const DeniedNames::Name& denied : denied_.find(object)) {
    demand(strongest_use(), denied.module.get(), rest);
  }
}

void LookupCheck::check_object(PyObject* object) const {
  if (gate_ == nullptr) return;
  for (const DeniedNames::Name& denied : denied_.find(object)) {
    demand(denied.name ? strongest_use() : Request::kImport, denied.module.get(),
           denied.name.get());
  }
  if (PyModule_Check(object)) {
    demand(Request::kImport, module_name(state_, object), nullptr);
    if (PyCallable_Check(object) == 0) return;
  }
  const OwnName own = own_name(state_, object);
  if (own.module) demand(strongest_use(), own.module.get(), own.name.get());
}

}  // namespace waybill::py
