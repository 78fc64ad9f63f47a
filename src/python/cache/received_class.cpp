// Tested by tests/python/cache/test_known_classes.py and
// tests/python/classes/test_received_again.py.

#include "python/cache/received_class.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "python/cache/methods.h"
#include "python/guards/object_form.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"
#include "python/runtime/objects.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

// References to an attribute of a class: by the class, and by its baseline.
constexpr Py_ssize_t kExpectedReferences = 2;

template <typename Visit>
bool all_keys_and_values(PyObject* dict, Visit visit) {
  for (const auto& [name, value] : DictItems(dict)) {
    if (!visit(name) || !visit(value)) return false;
  }
  return true;
}

// A tuple of simple leaves cannot change, and keeps no other objects alive.
bool is_tuple_of_simple(PyObject* value) {
  return PyTuple_CheckExact(value) && std::ranges::all_of(items_of(value), is_simple);
}

bool is_empty_list(PyObject* value) {
  return value != nullptr && PyList_CheckExact(value) && PyList_GET_SIZE(value) == 0;
}

bool is_same_metadata(const Ref& recorded, PyObject* current) {
  return recorded.get() == current ||
         (recorded && current != nullptr && is_same_constant(recorded.get(), current));
}

// Names, docstring and module of a function; borrowed.
std::array<PyObject*, 4> metadata_of(PyObject* object) {
  auto* function = as_function(object);
  return {function->func_name, function->func_qualname, function->func_doc,
          function->func_module};
}

}  // namespace

// Visits the values that the function reaches, always in the same order. Visitors get
// borrowed references, and null for an empty cell or a deleted name.
template <typename VisitGlobal, typename Visit>
bool ReceivedFunctions::all_of_reachable(const Function& recorded, PyObject* object,
                                         VisitGlobal visit_global, Visit visit) {
  auto* function = as_function(object);
  const auto visit_cell = [&](PyObject* cell) {
    return visit(PyCell_Check(cell) ? PyCell_GET(cell) : nullptr);
  };
  const auto visit_helper = [&](const Ref& name) {
    return visit(raw_get(function->func_globals, name.get()));
  };
  return (!recorded.is_first_with_globals ||
          all_keys_and_values(function->func_globals, visit_global)) &&
         std::ranges::all_of(recorded.helpers, visit_helper) &&
         std::ranges::all_of(items_of(function->func_closure), visit_cell) &&
         std::ranges::all_of(items_of(function->func_defaults), visit) &&
         (!function->func_kwdefaults ||
          all_keys_and_values(function->func_kwdefaults, visit)) &&
         (!function->func_dict || all_keys_and_values(function->func_dict, visit));
}

bool ReceivedFunctions::record(const State& state, PyObject* method, bool follows,
                               Py_ssize_t expected_references) {
  std::size_t number = functions_.size();
  Function& recorded = functions_[number_of(method)];
  recorded.expected_references = expected_references;
  recorded.follows = follows;
  for (; follows && number < functions_.size(); ++number) {
    if (!record_reachable(state, number)) return false;
  }
  return true;
}

// The number of a function, which is added unless it was reached before.
std::size_t ReceivedFunctions::number_of(PyObject* function) {
  const auto is_same_function = [&](const Function& recorded) {
    return weakly_referenced(recorded.function.get()).get() == function;
  };
  const auto found = std::ranges::find_if(functions_, is_same_function);
  const auto number = static_cast<std::size_t>(found - functions_.begin());
  if (found == functions_.end()) {
    Function& recorded = functions_.emplace_back();
    recorded.function = weak_reference(function);
    recorded.code = weak_reference(PyFunction_GET_CODE(function));
  }
  return number;
}

bool ReceivedFunctions::record_reachable(const State& state, std::size_t number) {
  const Ref function = weakly_referenced(functions_[number].function.get());
  if (!function) return false;
  PyObject* code = PyFunction_GET_CODE(function.get());
  PyObject* globals = PyFunction_GET_GLOBALS(function.get());
  std::optional<std::vector<Ref>> helpers = names_of_functions(state, code, globals);
  if (!helpers || can_write_globals(code)) return false;
  Function& recorded = functions_[number];
  const std::array<PyObject*, 4> metadata = metadata_of(function.get());
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    if (metadata[i] == nullptr) continue;
    if (!is_simple(metadata[i])) return false;
    recorded.metadata[i] = Ref::share(metadata[i]);
  }
  recorded.annotations = identity_of_annotations(function.get());
  recorded.helpers = *std::move(helpers);
  recorded.is_first_with_globals = !has_globals(globals);
  if (recorded.is_first_with_globals) globals_.push_back(globals);
  // Recording a value may run code.
  std::vector<Ref> in_globals, reached;
  const auto into = [](std::vector<Ref>& values) {
    return [&](PyObject* value) {
      values.push_back(value == nullptr ? Ref() : Ref::share(value));
      return true;
    };
  };
  all_of_reachable(recorded, function.get(), into(in_globals), into(reached));
  const bool is_method = recorded.expected_references != 0;
  const std::size_t helper_count = recorded.helpers.size();
  for (const Ref& value : in_globals) {
    if (!record_global(state, value.get())) return false;
  }
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const bool is_held = i >= helper_count;
    if (is_method && is_held && reached[i] && PyFunction_Check(reached[i].get())) {
      has_held_functions_ = true;
    }
    if (!record_value(state, reached[i].get())) return false;
  }
  return true;
}

bool ReceivedFunctions::record_global(const State& state, PyObject* value) {
  if (is_empty_list(value)) {
    values_.push_back({Value::Kind::kEmptyList});
    return true;
  }
  if (!PyFunction_Check(value) || find_by_own_name(state, value).module) {
    return record_value(state, value);
  }
  values_.push_back(
      {Value::Kind::kFunctionByCode, weak_reference(PyFunction_GET_CODE(value))});
  return true;
}

bool ReceivedFunctions::record_value(const State& state, PyObject* value) {
  if (value == nullptr) return false;  // An empty cell may be filled.
  if (is_simple(value) || value == Py_Ellipsis || is_tuple_of_simple(value)) {
    values_.push_back({Value::Kind::kConstant, Ref::share(value)});
    return true;
  }
  Ref module, name;
  if (PyModule_Check(value)) {
    module = value == state.builtins.get() ? state.names.builtins_plain
                                           : Ref::share(importable_name(state, value));
    if (!module) return false;
  } else if (GlobalName place = find_by_own_name(state, value); place.module) {
    // Payloads name top-level names of modules only.
    if (!PyUnicode_Check(place.path.get()) ||
        PyUnicode_FindChar(place.path.get(), '.', 0,
                           PyUnicode_GET_LENGTH(place.path.get()), 1) >= 0) {
      return false;
    }
    module = Ref::share(module_name(state, place.module.get()));
    if (!module) return false;
    name = place.path;
  } else if (PyFunction_Check(value)) {
    values_.push_back({.kind = Value::Kind::kFunction, .number = number_of(value)});
    return true;
  } else if (!find_in_type(state, value).module &&
             (!PyType_Check(value) || !has_id(state, value))) {
    return false;
  }
  values_.push_back({Value::Kind::kObject, weak_reference(value), std::move(module),
                     std::move(name)});
  return true;
}

bool ReceivedFunctions::is_unchanged(const State& state, const Value& recorded,
                                     PyObject* value, PyObject* loaded) {
  if (recorded.kind == Value::Kind::kConstant) {
    return is_same_constant(recorded.held.get(), value);
  }
  if (recorded.kind == Value::Kind::kEmptyList) return is_empty_list(value);
  const Ref held = weakly_referenced(recorded.held.get());
  if (recorded.kind == Value::Kind::kFunctionByCode) {
    return PyFunction_Check(value) && PyFunction_GET_CODE(value) == held.get();
  }
  if (held.get() != value) return false;
  if (!recorded.module) return true;
  // A new payload would find the object that has this name now.
  PyObject* module = look_up(state, loaded, recorded.module.get());
  if (!recorded.name) return module == value;
  return module != nullptr && PyModule_Check(module) &&
         look_up_in(state, module, recorded.name.get()) == value;
}

bool ReceivedFunctions::are_unchanged(const State& state) const {
  const Ref loaded = Ref::share(values_.empty() ? nullptr : sys_modules(state));
  // The current function in the place of each recorded one, once visited.
  std::vector<Ref> visited(functions_.size());
  std::size_t value_index = 0;
  const auto visit = [&](PyObject* value) {
    if (value == nullptr || value_index == values_.size()) return false;
    const Value& recorded = values_[value_index++];
    if (recorded.kind != Value::Kind::kFunction) {
      return is_unchanged(state, recorded, value, loaded.get());
    }
    Ref& place = visited[recorded.number];
    if (!place) place = Ref::share(value);
    return place.get() == value && PyFunction_Check(value);
  };
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const Function& recorded = functions_[i];
    Ref& function = visited[i];
    if (recorded.expected_references != 0) {
      const Ref method = weakly_referenced(recorded.function.get());
      if (function && function.get() != method.get()) return false;
      function = method;
    }
    const Ref code = weakly_referenced(recorded.code.get());
    if (!function || !code || PyFunction_GET_CODE(function.get()) != code.get()) {
      return false;
    }
    if (!recorded.follows) continue;
    const bool has_same_metadata =
        std::ranges::equal(recorded.metadata, metadata_of(function.get()),
                           is_same_metadata) &&
        (recorded.expected_references == 0 ||
         recorded.annotations == identity_of_annotations(function.get()));
    if (!has_same_metadata ||
        !all_of_reachable(recorded, function.get(), visit, visit)) {
      return false;
    }
  }
  return value_index == values_.size();
}

// `visit` gets a method and its expected references.
template <typename Visit>
bool ReceivedFunctions::all_of_methods(Visit visit) const {
  return std::ranges::all_of(functions_, [&](const Function& recorded) {
    if (recorded.expected_references == 0 || !recorded.follows) return true;
    const Ref method = weakly_referenced(recorded.function.get());
    return method && visit(method.get(), recorded.expected_references);
  });
}

bool ReceivedFunctions::is_independent_of(const std::vector<PyObject*>& globals) const {
  const bool can_reach_functions =
      has_held_functions_ ||
      std::ranges::any_of(functions_, [](const Function& recorded) {
        return !recorded.helpers.empty();
      });
  return !can_reach_functions && all_of_methods([&](PyObject* method, Py_ssize_t) {
    return std::ranges::find(globals, PyFunction_GET_GLOBALS(method)) == globals.end();
  });
}

bool ReceivedFunctions::are_bound_to(PyObject* globals) const {
  return all_of_methods([&](PyObject* method, Py_ssize_t) {
    return PyFunction_GET_GLOBALS(method) == globals;
  });
}

bool ReceivedFunctions::has_any_of(const std::vector<PyObject*>& functions) const {
  return std::ranges::any_of(functions_, [&](const Function& recorded) {
    const Ref function = weakly_referenced(recorded.function.get());
    return recorded.expected_references != 0 &&
           std::ranges::find(functions, function.get()) != functions.end();
  });
}

bool ReceivedFunctions::is_referenced_elsewhere() const {
  return !all_of_methods([](PyObject* method, Py_ssize_t expected_references) {
    return Py_REFCNT(method) <=
           expected_references + 1;  // The visit adds one reference.
  });
}

void ReceivedFunctions::rebind_globals(PyObject* globals, std::vector<Ref>& old) const {
  all_of_methods([&](PyObject* method, Py_ssize_t) {
    old.push_back(exchange_globals(method, globals));
    return true;
  });
}

bool ReceivedFunctions::has_globals(PyObject* globals) const {
  return std::ranges::find(globals_, globals) != globals_.end();
}

bool ReceivedClass::record(const State& state, PyObject* type, PyObject* serials) {
  version_ = 0;
  methods_.clear();
  wrappers_.clear();
  has_inner_wrappers_ = false;
  members_.clear();
  if (!PyType_Check(type) || identified_object(state, id_.get()).get() != type) {
    return false;
  }
  auto* cls = as_type(type);
  const std::uint32_t version = assigned_version(cls, state.names.reduce_ex.get());
  if (version == 0) return false;
  is_home_ = is_home(state, type);
  serial_ = Ref::share(raw_get(serials, id_.get()));
  // With __waybill_state__ each payload may overwrite what the worker changed.
  if (raw_get(cls, state.names.waybill_state.get()) != nullptr) return false;
  if (!is_home_ && !serial_) return false;
  // Each payload brings the home's own methods, which are not in the class.
  const auto has_replaced_methods = [&] {
    return call(state.has_replaced_methods.get(), id_.get(), type).get() == Py_True;
  };
  if (!is_home_ && has_replaced_methods()) return false;
  const bool is_enum = is_enumeration(state, type);
  if (is_enum && !record_members(state, type)) return false;
  type_ = weak_reference(type);
  const bool follows = !is_home_;
  // Recording what methods reach may run code.
  const Ref dict = type_dict(cls);
  const Ref names = Ref::steal(PyDict_Keys(dict.get()));
  for (PyObject* name : items_of(names.get())) {
    PyObject* found = raw_get(dict.get(), name);
    if (found == nullptr) return false;
    const Ref attribute = Ref::share(found);
    if (is_enum && is_derived_by_enum(state, type, name, found)) continue;
    if (!record_functions(state, attribute.get(), follows, kExpectedReferences))
      return false;
    if (!function_attributes_of(state, attribute.get()).empty()) {
      wrappers_.push_back(Ref::share(name));
    }
  }
  // The record is valid only if recording ran no code that changed the class.
  version_ = type_version(cls) == version ? version : 0;
  return version_ != 0;
}

// False if a member has more than a value, or if values cannot be compared.
bool ReceivedClass::record_members(const State& state, PyObject* type) {
  PyObject* members = members_of_enum(state, type);
  if (members == nullptr) return false;
  for (const auto& [name, member] : DictItems(members)) {
    PyObject* value = value_of_plain_member(state, type, member);
    if (value == nullptr || !(is_simple(value) || is_tuple_of_simple(value))) {
      return false;
    }
    members_.emplace_back(Ref::share(name), Ref::share(value));
  }
  return true;
}

// The version of an enumeration does not show that members were changed.
bool ReceivedClass::has_members(const State& state, PyObject* type) const {
  PyObject* members = members_of_enum(state, type);
  if (members == nullptr) return false;
  auto recorded = members_.begin();
  for (const auto& [name, member] : DictItems(members)) {
    PyObject* value = value_of_plain_member(state, type, member);
    if (recorded == members_.end() || value == nullptr ||
        !is_same_constant(recorded->first.get(), name) ||
        !is_same_constant(recorded->second.get(), value)) {
      return false;
    }
    ++recorded;
  }
  return recorded == members_.end();
}

// False if wrappers are nested too deep.
bool ReceivedClass::record_functions(const State& state, PyObject* attribute,
                                     bool follows, Py_ssize_t expected_references,
                                     int depth) {
  if (depth > kMaxWrapperDepth) return false;
  if (PyFunction_Check(attribute)) {
    return methods_.record(state, attribute, follows, expected_references);
  }
  const std::span<const char* const> names = function_attributes_of(state, attribute);
  if (names.empty()) return !follows || !is_method(state, attribute);
  return std::ranges::all_of(names, [&](const char* name) {
    const Ref wrapped = get_attribute(attribute, name);
    has_inner_wrappers_ =
        has_inner_wrappers_ || !function_attributes_of(state, wrapped.get()).empty();
    return record_functions(state, wrapped.get(), follows, 1, depth + 1);
  });
}

bool ReceivedClass::has_referenced_methods() const {
  const Ref type = weakly_referenced(type_.get());
  if (!type || has_inner_wrappers_ || methods_.is_referenced_elsewhere()) return true;
  const Ref dict = type_dict(as_type(type.get()));
  return std::ranges::any_of(wrappers_, [&](const Ref& name) {
    PyObject* wrapper = raw_get(dict.get(), name.get());
    return wrapper == nullptr || Py_REFCNT(wrapper) > kExpectedReferences;
  });
}

Ref ReceivedClass::find_type(const State& state) const {
  if (version_ == 0) return {};
  Ref type = weakly_referenced(type_.get());
  if (!type || type_version(as_type(type.get())) != version_ ||
      identified_object(state, id_.get()).get() != type.get() ||
      // Only a fork moves a class away from home, and a fork clears the caches.
      (!is_home_ && raw_get(state.class_serials.get(), id_.get()) != serial_.get()) ||
      (!members_.empty() && !has_members(state, type.get()))) {
    return {};
  }
  return type;
}

Ref ReceivedClass::find(const State& state) const {
  Ref type = find_type(state);
  if (!type || !methods_.are_unchanged(state)) return {};
  // Recording some of the uses is enough to tell used classes from unused ones.
  if (serial_ && find_count_++ % 4 == 0) {
    check(PyDict_SetItem(state.class_uses.get(), id_.get(), Py_None));
  }
  return type;
}

}  // namespace waybill::py
