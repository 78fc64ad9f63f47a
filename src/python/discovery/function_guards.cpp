// One walk over what a function reaches serves both: the first time it notes what is
// there, later it compares. What cannot be compared is refused, and the function is
// encoded each time.
//
// Globals, module dicts and sys.modules are looked into each time and must show the
// same. Objects are compared by weak references, so none is held, and none that took
// the place of another is mistaken for it.
//
// Tested by tests/python/cache/test_kept_functions.py.

#include "python/discovery/function_guards.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxGuards = 256;
constexpr Py_ssize_t kMaxConstant = 1024;  // Of text and bytes.
constexpr int kMaxTupleDepth = 4;

// What a namespace says of itself: text, None, as a script's __package__, or nothing.
bool is_text_or_none(PyObject* object) {
  return object == nullptr || object == Py_None || PyUnicode_CheckExact(object);
}

bool is_constant(PyObject* object) {
  if (PyUnicode_CheckExact(object)) return PyUnicode_GET_LENGTH(object) <= kMaxConstant;
  if (PyBytes_CheckExact(object)) return PyBytes_GET_SIZE(object) <= kMaxConstant;
  return is_simple(object) || object == Py_Ellipsis || object == Py_NotImplemented ||
         (PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) == 0);
}

bool is_same_constant(PyObject* known, PyObject* value) {
  if (known == value) return true;
  if (Py_TYPE(known) != Py_TYPE(value)) return false;
  if (PyUnicode_CheckExact(known)) return PyUnicode_Compare(known, value) == 0;
  if (PyFloat_CheckExact(known)) {  // By its bits: 0.0 is not -0.0, and nan is itself.
    const double a = PyFloat_AS_DOUBLE(known), b = PyFloat_AS_DOUBLE(value);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  if (!PyLong_CheckExact(known) && !PyBytes_CheckExact(known)) return false;
  const int is_same = PyObject_RichCompareBool(known, value, Py_EQ);
  check(is_same);
  return is_same == 1;
}

// Whether a user has registered what takes such an object apart.
bool is_reduced_by_user(const State& state, PyObject* object) {
  if (PyType_CheckExact(object) || PyFunction_Check(object)) return false;
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return raw_get(state.dispatch_table.get(), type) != nullptr;
}

// Whether an object still says that it is found there. What is written in C has its
// name for ever, but for the name of a function's module.
bool names_place(const State& state, PyObject* object, PyObject* module,
                 PyObject* name) {
  if (PyFunction_Check(object)) {
    auto* function = reinterpret_cast<PyFunctionObject*>(object);
    return is_same_text(function->func_module, module) &&
           is_same_text(function->func_qualname, name);
  }
  if (PyCFunction_CheckExact(object)) {
    return is_same_text(reinterpret_cast<PyCFunctionObject*>(object)->m_module, module);
  }
  if (!PyType_HasFeature(reinterpret_cast<PyTypeObject*>(object),
                         Py_TPFLAGS_HEAPTYPE)) {
    return true;
  }
  const GlobalName found = find_by_own_name(state, object);
  return found.module && is_same_text(found.path.get(), name) &&
         is_same_text(module_name(state, found.module.get()), module);
}

// What decides how a namespace is written, besides its names.
std::uint32_t namespace_bits(const State& state, PyObject* globals) {
  const bool is_package = raw_get(globals, state.names.path.get()) != nullptr;
  return is_package | is_of_made_up_module(state, globals) << 1;
}

// Whether the step shows what it showed. `found`: see SeenStep.
bool is_still(const State& state, const SeenStep& step, PyObject* loaded) {
  PyObject* module = module_in(loaded, step.package.get());
  if (module == nullptr) return false;
  PyObject* value = raw_get(PyModule_GetDict(module), step.name.get());
  PyObject* listed = module_in(loaded, step.whole.get());
  if (!step.found) {
    if (value == nullptr) return listed == nullptr && !kHasLazyImports;  // Pending?
    return !PyModule_Check(value) && !is_lazy_import(state, value) && value != loaded;
  }
  return listed != nullptr && (value == nullptr || value == listed) &&
         is_same_text(module_name(state, listed, loaded), step.found.get());
}

bool is_unchanged(const SeenType& seen) {
  const Ref type = weakly_referenced(seen.type.get());
  return type &&
         type_version(reinterpret_cast<PyTypeObject*>(type.get())) == seen.version;
}

}  // namespace

// The first look: takes a note of each thing.
class FunctionGuards::Noting : public ReachVisitor {
 public:
  Noting(const State& state, FunctionGuards& guards, std::vector<MetObject>& met)
      : ReachVisitor(met), state_(state), guards_(guards) {}

  bool code(PyObject* code) {
    guards_.codes_.push_back(Ref::steal(PyWeakref_NewRef(code, nullptr)));
    return true;
  }

  bool name_space(PyObject* globals) {
    const std::uintptr_t key = key_of_namespace(globals);
    if (is_seen(key)) return true;
    const Names& names = state_.names;
    PyObject* own_name = raw_get(globals, names.name.get());
    PyObject* package = raw_get(globals, names.package.get());
    if (!is_text_or_none(own_name) || !is_text_or_none(package)) return false;
    Guard guard{Guard::Kind::kNamespace};
    guard.number = namespace_bits(state_, globals);
    guard.module = Ref::share(own_name);
    guard.name = Ref::share(package);
    return add(std::move(guard)) && meet(key, globals);
  }

  bool count(std::size_t count) {
    Guard guard{Guard::Kind::kCount};
    guard.number = static_cast<std::uint32_t>(count);
    return add(std::move(guard));
  }

  bool object(PyObject* object) {
    return is_seen(key_of(object)) ||
           (add({Guard::Kind::kObject}) && meet(key_of(object), object));
  }

  bool value(PyObject* value, bool is_named, int depth = 0) {
    if (value == nullptr) return add({Guard::Kind::kAbsent});
    const Ref held = Ref::share(value);  // Metaclasses may run code.
    if (is_constant(value)) return constant(value);
    if (PyModule_Check(value)) return is_named && module(value);
    if (is_seen(key_of(value))) return true;
    if (PyTuple_CheckExact(value)) return tuple(value, depth);
    if (is_reduced_by_user(state_, value)) return false;
    if (GlobalName place = find_by_own_name(state_, value); place.module) {
      return global(value, place);
    }
    if (!PyFunction_Check(value)) return false;
    walk_later(value);
    return add({Guard::Kind::kFunction}) && meet(key_of(value), value);
  }

 private:
  bool add(Guard guard) {
    if (guards_.guards_.size() == kMaxGuards) return false;
    guards_.guards_.push_back(std::move(guard));
    return true;
  }

  bool is_seen(std::uintptr_t key) {
    const std::uint32_t number = number_of(key);
    if (number == kNoIndex) return false;
    Guard guard{Guard::Kind::kSeen};
    guard.number = number;
    return add(std::move(guard));
  }

  bool constant(PyObject* value) {
    const bool is_shared = is_long_leaf(value);
    if (is_shared && is_seen(key_of(value))) return true;
    Guard guard{Guard::Kind::kConstant};
    guard.is_shared = is_shared;
    guard.held = Ref::share(value);
    return add(std::move(guard)) && (!is_shared || meet(key_of(value), value));
  }

  bool module(PyObject* value) {
    PyObject* name = importable_name(state_, value);
    if (name == nullptr || !PyUnicode_CheckExact(name)) return false;
    Guard guard{Guard::Kind::kModule};
    guard.module = Ref::share(name);
    return add(std::move(guard));
  }

  bool tuple(PyObject* value, int depth) {
    const Py_ssize_t count = PyTuple_GET_SIZE(value);
    if (depth == kMaxTupleDepth || count > static_cast<Py_ssize_t>(kMaxGuards)) {
      return false;
    }
    Guard guard{Guard::Kind::kTuple};
    guard.number = static_cast<std::uint32_t>(count);
    if (!add(std::move(guard)) || !meet(key_of(value), value)) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!this->value(PyTuple_GET_ITEM(value, i), false, depth + 1)) return false;
    }
    return true;
  }

  bool global(PyObject* value, const GlobalName& place) {
    PyObject* module = module_name(state_, place.module.get());
    PyObject* path = place.path.get();
    // What a module holds deeper down is not looked for.
    if (module == nullptr || !PyUnicode_CheckExact(module) ||
        !PyUnicode_CheckExact(path) ||
        PyUnicode_FindChar(path, '.', 0, PyUnicode_GET_LENGTH(path), 1) >= 0) {
      return false;
    }
    Guard guard{Guard::Kind::kGlobal};
    guard.held = Ref::steal(PyWeakref_NewRef(value, nullptr));
    guard.module = Ref::share(module);
    guard.name = place.path;
    return add(std::move(guard)) && meet(key_of(value), value);
  }

  const State& state_;
  FunctionGuards& guards_;
};

// Later looks: each thing must be what was noted.
class FunctionGuards::Comparing : public ReachVisitor {
 public:
  Comparing(const State& state, const FunctionGuards& guards,
            std::vector<MetObject>& met)
      : ReachVisitor(met),
        state_(state),
        guards_(guards),
        loaded_(Ref::share(sys_modules(state))) {}

  bool is_at_end() const {
    return guard_ == guards_.guards_.size() && code_ == guards_.codes_.size();
  }
  PyObject* loaded() const { return loaded_.get(); }

  bool code(PyObject* code) {
    return code_ < guards_.codes_.size() &&
           weakly_referenced(guards_.codes_[code_++].get()).get() == code;
  }

  bool name_space(PyObject* globals) {
    const Guard* guard = next();
    if (guard == nullptr) return false;
    const std::uintptr_t key = key_of_namespace(globals);
    if (guard->kind == Guard::Kind::kSeen) return number_of(key) == guard->number;
    const Names& names = state_.names;
    return guard->kind == Guard::Kind::kNamespace && is_new(key) &&
           is_same_text(raw_get(globals, names.name.get()), guard->module.get()) &&
           is_same_text(raw_get(globals, names.package.get()), guard->name.get()) &&
           namespace_bits(state_, globals) == guard->number && meet(key, globals);
  }

  bool count(std::size_t count) {
    const Guard* guard = next();
    return guard != nullptr && guard->kind == Guard::Kind::kCount &&
           guard->number == count;
  }

  bool object(PyObject* object) {
    const Guard* guard = next();
    if (guard == nullptr) return false;
    if (guard->kind == Guard::Kind::kSeen) {
      return number_of(key_of(object)) == guard->number;
    }
    return guard->kind == Guard::Kind::kObject && meet_new(object);
  }

  bool value(PyObject* value, bool is_named, int depth = 0) {
    const Guard* guard = next();
    if (guard == nullptr) return false;
    if (value == nullptr) return guard->kind == Guard::Kind::kAbsent;
    const Ref held = Ref::share(value);
    switch (guard->kind) {
      case Guard::Kind::kConstant:
        return is_same_constant(guard->held.get(), value) &&
               (!guard->is_shared || meet_new(value));
      case Guard::Kind::kSeen:
        return number_of(key_of(value)) == guard->number;
      case Guard::Kind::kTuple:
        return tuple(*guard, value, depth);
      case Guard::Kind::kModule:
        return is_named && PyModule_Check(value) &&
               is_same_text(importable_name(state_, value, loaded_.get()),
                            guard->module.get());
      case Guard::Kind::kGlobal:
        return global(*guard, value);
      case Guard::Kind::kFunction:
        if (!PyFunction_Check(value) || find_function(state_, value).module) {
          return false;
        }
        walk_later(value);
        return meet_new(value);
      default:
        return false;
    }
  }

 private:
  const Guard* next() {
    return guard_ == guards_.guards_.size() ? nullptr : &guards_.guards_[guard_++];
  }
  bool is_new(std::uintptr_t key) const { return number_of(key) == kNoIndex; }
  // Where there were two objects there must not be one now.
  bool meet_new(PyObject* object) {
    return is_new(key_of(object)) && meet(key_of(object), object);
  }

  bool tuple(const Guard& guard, PyObject* value, int depth) {
    if (!PyTuple_CheckExact(value) || !meet_new(value)) return false;
    const Py_ssize_t count = PyTuple_GET_SIZE(value);
    if (static_cast<std::size_t>(count) != guard.number) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!this->value(PyTuple_GET_ITEM(value, i), false, depth + 1)) return false;
    }
    return true;
  }

  bool global(const Guard& guard, PyObject* value) {
    if (weakly_referenced(guard.held.get()).get() != value || !meet_new(value) ||
        is_reduced_by_user(state_, value) ||
        !names_place(state_, value, guard.module.get(), guard.name.get())) {
      return false;
    }
    PyObject* module = module_in(loaded_.get(), guard.module.get());
    return module != nullptr &&
           raw_get(PyModule_GetDict(module), guard.name.get()) == value &&
           is_same_text(importable_name(state_, module, loaded_.get()),
                        guard.module.get());
  }

  const State& state_;
  const FunctionGuards& guards_;
  const Ref loaded_;
  std::size_t guard_ = 0, code_ = 0;
};

std::unique_ptr<FunctionGuards> FunctionGuards::note(const State& state,
                                                     PyObject* function,
                                                     std::vector<MetObject>& met) {
  auto guards = std::make_unique<FunctionGuards>();
  guards->generation_ = state.cache_generation;
  Noting noting(state, *guards, met);
  return walk_reach(state, function, noting) ? std::move(guards) : nullptr;
}

bool FunctionGuards::hold(const State& state, PyObject* function,
                          std::vector<MetObject>& met) const {
  if (generation_ != state.cache_generation) return false;
  Comparing comparing(state, *this, met);
  if (!walk_reach(state, function, comparing) || !comparing.is_at_end()) return false;
  return std::ranges::all_of(seen_.types, is_unchanged) &&
         std::ranges::all_of(seen_.steps, [&](const SeenStep& step) {
           return is_still(state, step, comparing.loaded());
         });
}

}  // namespace waybill::py
