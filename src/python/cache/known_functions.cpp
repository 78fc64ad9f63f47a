// Compared is by identity, which runs no code.
// Tested by tests/python/classes/test_received_again.py.

#include "python/cache/known_functions.h"

#include <algorithm>

#include "python/cache/methods.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/leaves.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

template <typename Visit>
bool all_of_dict(PyObject* dict, Visit visit) {
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(dict, &position, &name, &value)) {
    if (!visit(name) || !visit(value)) return false;
  }
  return true;
}

template <typename Visit>
bool all_of_tuple(PyObject* tuple, Visit visit) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    if (!visit(PyTuple_GET_ITEM(tuple, i))) return false;
  }
  return true;
}

}  // namespace

// Visits what the function reaches, always in the same order. The visitor gets borrowed
// references and null for an empty cell.
template <typename Visit>
bool KnownFunctions::all_of_reach(PyObject* object, bool with_globals, Visit visit) {
  auto* function = reinterpret_cast<PyFunctionObject*>(object);
  const auto visit_cell = [&](PyObject* cell) {
    return visit(PyCell_Check(cell) ? PyCell_GET(cell) : nullptr);
  };
  return (!with_globals || all_of_dict(function->func_globals, visit)) &&
         (!function->func_closure ||
          all_of_tuple(function->func_closure, visit_cell)) &&
         (!function->func_defaults || all_of_tuple(function->func_defaults, visit)) &&
         (!function->func_kwdefaults ||
          all_of_dict(function->func_kwdefaults, visit)) &&
         (!function->func_dict || all_of_dict(function->func_dict, visit));
}

bool KnownFunctions::note(const State& state, PyObject* object, bool reaches) {
  std::vector<Ref> left = {Ref::share(object)};
  while (!left.empty()) {
    const Ref next = std::move(left.back());
    left.pop_back();
    PyObject* function = next.get();
    PyObject* code = PyFunction_GET_CODE(function);
    Function& known = functions_.emplace_back();
    known.function = Ref::steal(PyWeakref_NewRef(function, nullptr));
    known.code = Ref::steal(PyWeakref_NewRef(code, nullptr));
    if (!reaches) continue;
    if (may_write_globals(code)) return false;
    known.reaches = true;
    PyObject* globals = PyFunction_GET_GLOBALS(function);
    if (function == object) {
      reach_functions_ = reach_functions_ || names_function(state, code, globals);
      all_of_reach(function, false, [&](PyObject* part) {
        reach_functions_ =
            reach_functions_ || (part != nullptr && PyFunction_Check(part));
        return true;
      });
    }
    known.has_new_globals = !has_globals(globals);
    if (known.has_new_globals) globals_.push_back(globals);
    // Noting a value may run code.
    std::vector<Ref> reached;
    all_of_reach(function, known.has_new_globals, [&](PyObject* value) {
      reached.push_back(Ref::share(value));
      return true;
    });
    for (const Ref& value : reached) {
      if (!note_value(state, value.get(), left)) return false;
    }
  }
  return true;
}

bool KnownFunctions::note_value(const State& state, PyObject* value,
                                std::vector<Ref>& left) {
  if (value == nullptr) return false;  // An empty cell may be filled.
  if (is_simple(value) || value == Py_Ellipsis) {
    values_.push_back({Ref::share(value)});
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
    const auto is_it = [&](const Function& known) {
      return weakly_referenced(known.function.get()).get() == value;
    };
    const auto waits = [&](const Ref& function) { return function.get() == value; };
    if (std::ranges::none_of(functions_, is_it) && std::ranges::none_of(left, waits)) {
      left.push_back(Ref::share(value));
    }
  } else if (!PyType_Check(value) || !has_id(state, value)) {
    return false;
  }
  values_.push_back({Ref::steal(PyWeakref_NewRef(value, nullptr)), true,
                     std::move(module), std::move(name)});
  return true;
}

bool KnownFunctions::is_same(const State& state, const Value& known, PyObject* value,
                             PyObject* loaded) {
  if (!known.is_weak) return known.held.get() == value;
  if (weakly_referenced(known.held.get()).get() != value) return false;
  if (!known.module) return true;
  // What has this name now is what would be found again.
  PyObject* module = look_up(state, loaded, known.module.get());
  if (!known.name) return module == value;
  return module != nullptr && PyModule_Check(module) &&
         look_into(state, module, known.name.get()) == value;
}

bool KnownFunctions::are_same(const State& state) const {
  const Ref loaded = Ref::share(values_.empty() ? nullptr : sys_modules(state));
  std::size_t at = 0;
  for (const Function& known : functions_) {
    const Ref function = weakly_referenced(known.function.get());
    const Ref code = weakly_referenced(known.code.get());
    if (!function || !code || PyFunction_GET_CODE(function.get()) != code.get()) {
      return false;
    }
    const auto visit = [&](PyObject* value) {
      return value != nullptr && at < values_.size() &&
             is_same(state, values_[at++], value, loaded.get());
    };
    if (known.reaches && !all_of_reach(function.get(), known.has_new_globals, visit)) {
      return false;
    }
  }
  return at == values_.size();
}

bool KnownFunctions::has_globals(PyObject* globals) const {
  return std::ranges::find(globals_, globals) != globals_.end();
}

}  // namespace waybill::py
