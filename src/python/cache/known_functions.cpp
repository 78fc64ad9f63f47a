// Text and numbers are compared by value, all else by identity: no code runs.
// Tested by tests/python/classes/test_received_again.py.

#include "python/cache/known_functions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "python/cache/methods.h"
#include "python/guards/object_form.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/objects.h"
#include "python/runtime/modules.h"
#include "python/runtime/objects.h"

namespace waybill::py {

namespace {

template <typename Visit>
bool all_of_dict(PyObject* dict, Visit visit) {
  for (const auto& [name, value] : PairsOf(dict)) {
    if (!visit(name) || !visit(value)) return false;
  }
  return true;
}

// It cannot change, and to hold it keeps nothing else alive.
bool is_tuple_of_simple(PyObject* value) {
  return PyTuple_CheckExact(value) && std::ranges::all_of(items_of(value), is_simple);
}

bool is_empty_list(PyObject* value) {
  return value != nullptr && PyList_CheckExact(value) && PyList_GET_SIZE(value) == 0;
}

bool is_same_word(const Ref& known, PyObject* word) {
  return known.get() == word ||
         (known && word != nullptr && is_same_constant(known.get(), word));
}

// What a function says of itself; borrowed.
std::array<PyObject*, 4> words_of(PyObject* object) {
  auto* function = reinterpret_cast<PyFunctionObject*>(object);
  return {function->func_name, function->func_qualname, function->func_doc,
          function->func_module};
}

}  // namespace

// Visits what the function reaches, always in the same order. Visitors get borrowed
// references, and null for an empty cell and a name that is gone.
template <typename VisitGlobal, typename Visit>
bool KnownFunctions::all_of_reach(const Function& known, PyObject* object,
                                  VisitGlobal visit_global, Visit visit) {
  auto* function = reinterpret_cast<PyFunctionObject*>(object);
  const auto visit_cell = [&](PyObject* cell) {
    return visit(PyCell_Check(cell) ? PyCell_GET(cell) : nullptr);
  };
  const auto visit_helper = [&](const Ref& name) {
    return visit(raw_get(function->func_globals, name.get()));
  };
  return (!known.has_new_globals ||
          all_of_dict(function->func_globals, visit_global)) &&
         std::ranges::all_of(known.helpers, visit_helper) &&
         std::ranges::all_of(items_of(function->func_closure), visit_cell) &&
         std::ranges::all_of(items_of(function->func_defaults), visit) &&
         (!function->func_kwdefaults ||
          all_of_dict(function->func_kwdefaults, visit)) &&
         (!function->func_dict || all_of_dict(function->func_dict, visit));
}

bool KnownFunctions::note(const State& state, PyObject* method, bool reaches,
                          Py_ssize_t owners) {
  std::size_t number = functions_.size();
  Function& known = functions_[add(method)];
  known.owners = owners;
  known.reaches = reaches;
  for (; reaches && number < functions_.size(); ++number) {
    if (!note_reach(state, number)) return false;
  }
  return true;
}

// The number of a function, which may have been reached before.
std::size_t KnownFunctions::add(PyObject* function) {
  const auto is_it = [&](const Function& known) {
    return weakly_referenced(known.function.get()).get() == function;
  };
  const auto found = std::ranges::find_if(functions_, is_it);
  const auto number = static_cast<std::size_t>(found - functions_.begin());
  if (found == functions_.end()) {
    Function& known = functions_.emplace_back();
    known.function = Ref::steal(PyWeakref_NewRef(function, nullptr));
    known.code = Ref::steal(PyWeakref_NewRef(PyFunction_GET_CODE(function), nullptr));
  }
  return number;
}

bool KnownFunctions::note_reach(const State& state, std::size_t number) {
  const Ref function = weakly_referenced(functions_[number].function.get());
  if (!function) return false;
  PyObject* code = PyFunction_GET_CODE(function.get());
  PyObject* globals = PyFunction_GET_GLOBALS(function.get());
  std::optional<std::vector<Ref>> helpers = names_of_functions(state, code, globals);
  if (!helpers || may_write_globals(code)) return false;
  Function& known = functions_[number];
  const std::array<PyObject*, 4> words = words_of(function.get());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == nullptr) continue;
    if (!is_simple(words[i])) return false;
    known.words[i] = Ref::share(words[i]);
  }
  known.annotations = identity_of_annotations(function.get());
  known.helpers = *std::move(helpers);
  known.has_new_globals = !has_globals(globals);
  if (known.has_new_globals) globals_.push_back(globals);
  // Noting a value may run code.
  std::vector<Ref> in_globals, reached;
  const auto into = [](std::vector<Ref>& values) {
    return [&](PyObject* value) {
      values.push_back(value == nullptr ? Ref() : Ref::share(value));
      return true;
    };
  };
  all_of_reach(known, function.get(), into(in_globals), into(reached));
  const bool is_method = known.owners != 0;
  const std::size_t helper_count = known.helpers.size();
  for (const Ref& value : in_globals) {
    if (!note_global(state, value.get())) return false;
  }
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const bool is_held = i >= helper_count;
    if (is_method && is_held && reached[i] && PyFunction_Check(reached[i].get())) {
      hold_functions_ = true;
    }
    if (!note_value(state, reached[i].get())) return false;
  }
  return true;
}

bool KnownFunctions::note_global(const State& state, PyObject* value) {
  if (is_empty_list(value)) {
    values_.push_back({Value::Kind::kEmpty});
    return true;
  }
  if (!PyFunction_Check(value) || find_by_own_name(state, value).module) {
    return note_value(state, value);
  }
  values_.push_back({Value::Kind::kUnnamed, Ref::steal(PyWeakref_NewRef(
                                                PyFunction_GET_CODE(value), nullptr))});
  return true;
}

bool KnownFunctions::note_value(const State& state, PyObject* value) {
  if (value == nullptr) return false;  // An empty cell may be filled.
  if (is_simple(value) || value == Py_Ellipsis || is_tuple_of_simple(value)) {
    values_.push_back({Value::Kind::kConstant, Ref::share(value)});
    return true;
  }
  Ref module, name;
  if (PyModule_Check(value)) {
    PyObject* own = value == state.builtins.get() ? state.names.builtins_plain.get()
                                                  : importable_name(state, value);
    if (own == nullptr) return false;
    module = Ref::share(own);
  } else if (GlobalName place = find_by_own_name(state, value); place.module) {
    // As a payload has it: what a module holds deeper down is not looked for.
    if (!PyUnicode_Check(place.path.get()) ||
        PyUnicode_FindChar(place.path.get(), '.', 0,
                           PyUnicode_GET_LENGTH(place.path.get()), 1) >= 0) {
      return false;
    }
    PyObject* own = module_name(state, place.module.get());
    if (own == nullptr) return false;
    module = Ref::share(own);
    name = place.path;
  } else if (PyFunction_Check(value)) {
    values_.push_back({.kind = Value::Kind::kFunction, .number = add(value)});
    return true;
  } else if (!find_in_type(state, value).module &&
             (!PyType_Check(value) || !has_id(state, value))) {
    return false;
  }
  values_.push_back({Value::Kind::kObject, Ref::steal(PyWeakref_NewRef(value, nullptr)),
                     std::move(module), std::move(name)});
  return true;
}

bool KnownFunctions::is_same(const State& state, const Value& known, PyObject* value,
                             PyObject* loaded) {
  if (known.kind == Value::Kind::kConstant) {
    return is_same_constant(known.held.get(), value);
  }
  if (known.kind == Value::Kind::kEmpty) return is_empty_list(value);
  const Ref held = weakly_referenced(known.held.get());
  if (known.kind == Value::Kind::kUnnamed) {
    return PyFunction_Check(value) && PyFunction_GET_CODE(value) == held.get();
  }
  if (held.get() != value) return false;
  if (!known.module) return true;
  // What has this name now is what would be found again.
  PyObject* module = look_up(state, loaded, known.module.get());
  if (!known.name) return module == value;
  return module != nullptr && PyModule_Check(module) &&
         look_up_in(state, module, known.name.get()) == value;
}

bool KnownFunctions::are_same(const State& state) const {
  const Ref loaded = Ref::share(values_.empty() ? nullptr : sys_modules(state));
  // What has the place of each function, once it was met.
  std::vector<Ref> met(functions_.size());
  std::size_t at = 0;
  const auto visit = [&](PyObject* value) {
    if (value == nullptr || at == values_.size()) return false;
    const Value& known = values_[at++];
    if (known.kind != Value::Kind::kFunction) {
      return is_same(state, known, value, loaded.get());
    }
    Ref& place = met[known.number];
    if (!place) place = Ref::share(value);
    return place.get() == value && PyFunction_Check(value);
  };
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const Function& known = functions_[i];
    Ref& function = met[i];
    if (known.owners != 0) {
      const Ref method = weakly_referenced(known.function.get());
      if (function && function.get() != method.get()) return false;
      function = method;
    }
    const Ref code = weakly_referenced(known.code.get());
    if (!function || !code || PyFunction_GET_CODE(function.get()) != code.get()) {
      return false;
    }
    if (!known.reaches) continue;
    const bool says_the_same =
        std::ranges::equal(known.words, words_of(function.get()), is_same_word) &&
        (known.owners == 0 ||
         known.annotations == identity_of_annotations(function.get()));
    if (!says_the_same || !all_of_reach(known, function.get(), visit, visit)) {
      return false;
    }
  }
  return at == values_.size();
}

// `visit` gets a method, and how many references to it there are beside this one.
template <typename Visit>
bool KnownFunctions::all_of_methods(Visit visit) const {
  return std::ranges::all_of(functions_, [&](const Function& known) {
    if (known.owners == 0 || !known.reaches) return true;
    const Ref method = weakly_referenced(known.function.get());
    return method && visit(method.get(), known.owners);
  });
}

bool KnownFunctions::are_apart_from(const std::vector<PyObject*>& globals) const {
  const bool reach_functions =
      hold_functions_ || std::ranges::any_of(functions_, [](const Function& known) {
        return !known.helpers.empty();
      });
  return !reach_functions && all_of_methods([&](PyObject* method, Py_ssize_t) {
    return std::ranges::find(globals, PyFunction_GET_GLOBALS(method)) == globals.end();
  });
}

bool KnownFunctions::have_globals(PyObject* globals) const {
  return all_of_methods([&](PyObject* method, Py_ssize_t) {
    return PyFunction_GET_GLOBALS(method) == globals;
  });
}

bool KnownFunctions::are_held() const {
  return !all_of_methods([](PyObject* method, Py_ssize_t owners) {
    return Py_REFCNT(method) <= owners + 1;  // With the one that visits it.
  });
}

void KnownFunctions::move_to(PyObject* globals, std::vector<Ref>& old) const {
  all_of_methods([&](PyObject* method, Py_ssize_t) {
    old.push_back(exchange_globals(method, globals));
    return true;
  });
}

bool KnownFunctions::has_globals(PyObject* globals) const {
  return std::ranges::find(globals_, globals) != globals_.end();
}

}  // namespace waybill::py
