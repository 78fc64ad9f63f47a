// One walk over what a function or class reaches serves both: the first time it notes
// what is there, later it compares. What cannot be compared is refused, and the object
// is encoded each time.
//
// Globals, lists, dicts, module dicts and sys.modules are looked into each time and
// must show the same. Objects are compared by weak references, so none is held, and
// none that took the place of another is mistaken for it.
//
// Tested by tests/python/cache/test_kept_function_guards.py and test_kept_classes.py.

#include "python/discovery/node_guards.h"

#include <algorithm>
#include <utility>

#include "python/discovery/guard_looks.h"
#include "python/discovery/ordinary_class.h"
#include "python/discovery/wrappers.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/leaves.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxGuards = 512;
constexpr int kMaxDepth = 4;  // Of containers in each other.

Py_ssize_t count_of(PyObject* container) {
  return PyDict_CheckExact(container) ? PyDict_GET_SIZE(container) : Py_SIZE(container);
}

// Shows a visitor what is in a container. That may run code, which may change it.
template <typename Visitor>
bool walk_items(PyObject* container, Visitor& visitor, int depth) {
  if (PyDict_CheckExact(container)) {
    Py_ssize_t position = 0;
    PyObject *key, *value;
    while (PyDict_Next(container, &position, &key, &value)) {
      const Ref held = Ref::share(value);
      if (!visitor.value(key, false, depth) || !visitor.value(value, false, depth)) {
        return false;
      }
    }
    return true;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(container); ++i) {
    if (!visitor.value(PySequence_Fast_GET_ITEM(container, i), false, depth)) {
      return false;
    }
  }
  return true;
}

template <typename Visitor>
bool walk_wrapper(const State& state, PyObject* wrapper, Visitor& visitor) {
  if (!visitor.value(reinterpret_cast<PyObject*>(Py_TYPE(wrapper)), false)) {
    return false;
  }
  const Ref parts = parts_of_wrapper(state, wrapper);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(parts.get()); ++i) {
    if (!visitor.value(PyTuple_GET_ITEM(parts.get(), i), false)) return false;
  }
  return true;
}

bool is_same_id(PyObject* a, PyObject* b) {
  return a == b || (a != nullptr && is_same_constant(b, a));
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
class NodeGuards::Noting : public ReachVisitor {
 public:
  Noting(const State& state, NodeGuards& guards, std::vector<MetObject>& met)
      : ReachVisitor(met), state_(state), guards_(guards) {}

  // A class may be found in the module of the function that reaches it, though it says
  // that it is elsewhere; which function that is depends on the order of writing.
  bool can_be_compared() const { return !has_class_ || !may_be_imported_; }

  bool code(PyObject* code) {
    guards_.codes_.push_back(Ref::steal(PyWeakref_NewRef(code, nullptr)));
    return true;
  }

  bool name_space(PyObject* globals) {
    const std::uintptr_t key = key_of_namespace(globals);
    const Names& names = state_.names;
    PyObject* own_name = raw_get(globals, names.name.get());
    const std::uint32_t bits = namespace_bits(state_, globals, own_name);
    may_be_imported_ |= (bits & kMayBeImported) != 0;
    if (is_seen(key)) return true;
    PyObject* package = raw_get(globals, names.package.get());
    if (!is_text_or_none(own_name) || !is_text_or_none(package)) return false;
    Guard guard{Guard::Kind::kNamespace};
    guard.number = bits;
    guard.module = Ref::share(own_name);
    guard.name = Ref::share(package);
    return add(std::move(guard)) && meet(key, globals);
  }

  bool type(PyObject* object) {
    auto* type = reinterpret_cast<PyTypeObject*>(object);
    Guard guard{Guard::Kind::kType};
    guard.number = assigned_version(type, state_.names.reduce_ex.get());
    PyObject* id = home_id(state_, object);
    if (guard.number == 0 || id == nullptr || !is_ordinary_class(state_, object)) {
      return false;
    }
    guard.held = Ref::steal(PyWeakref_NewRef(object, nullptr));
    guard.name = Ref::share(id);
    has_class_ = true;
    return add(std::move(guard));
  }

  bool attribute(PyObject* name, PyObject* value) {
    const Ref held = Ref::share(value);
    if (is_given_to_class(state_, name)) return add({Guard::Kind::kGiven});
    return this->value(name, false) && this->value(value, false);
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
    if (is_guarded_container(value)) return container(value, depth);
    if (is_reduced_by_user(state_, value)) return false;
    if (is_wrapper(value)) return wrapper(value);
    if (GlobalName place = find_by_own_name(state_, value); place.module) {
      return global(value, place);
    }
    if (!PyFunction_Check(value) && !PyType_CheckExact(value)) return false;
    walk_later(value);
    return add({Guard::Kind::kByValue}) && meet(key_of(value), value);
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

  bool container(PyObject* value, int depth) {
    const Py_ssize_t count = count_of(value);
    if (depth == kMaxDepth || count > static_cast<Py_ssize_t>(kMaxGuards)) return false;
    Guard guard{Guard::Kind::kContainer};
    guard.number = static_cast<std::uint32_t>(count);
    guard.held = Ref::share(reinterpret_cast<PyObject*>(Py_TYPE(value)));
    return add(std::move(guard)) && meet(key_of(value), value) &&
           walk_items(value, *this, depth + 1);
  }

  bool wrapper(PyObject* value) {
    Guard guard{Guard::Kind::kWrapper};
    guard.held = Ref::share(reinterpret_cast<PyObject*>(Py_TYPE(value)));
    return add(std::move(guard)) && meet(key_of(value), value) &&
           walk_wrapper(state_, value, *this);
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
  NodeGuards& guards_;
  bool has_class_ = false, may_be_imported_ = false;
};

// Later looks: each thing must be what was noted.
class NodeGuards::Comparing : public ReachVisitor {
 public:
  Comparing(const State& state, const NodeGuards& guards, std::vector<MetObject>& met)
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
    PyObject* own_name = raw_get(globals, names.name.get());
    return guard->kind == Guard::Kind::kNamespace && is_new(key) &&
           is_same_text(own_name, guard->module.get()) &&
           is_same_text(raw_get(globals, names.package.get()), guard->name.get()) &&
           namespace_bits(state_, globals, own_name) == guard->number &&
           meet(key, globals);
  }

  bool type(PyObject* object) {
    const Guard* guard = next();
    return guard != nullptr && guard->kind == Guard::Kind::kType &&
           weakly_referenced(guard->held.get()).get() == object &&
           type_version(reinterpret_cast<PyTypeObject*>(object)) == guard->number &&
           is_same_id(home_id(state_, object), guard->name.get());
  }

  bool attribute(PyObject* name, PyObject* value) {
    if (guard_ == guards_.guards_.size()) return false;
    if (guards_.guards_[guard_].kind == Guard::Kind::kGiven) return ++guard_, true;
    const Ref held = Ref::share(value);
    return this->value(name, false) && this->value(value, false);
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
      case Guard::Kind::kContainer:
        return is_of_type(*guard, value) &&
               static_cast<std::size_t>(count_of(value)) == guard->number &&
               meet_new(value) && walk_items(value, *this, depth + 1);
      case Guard::Kind::kWrapper:
        return is_of_type(*guard, value) && !is_reduced_by_user(state_, value) &&
               meet_new(value) && walk_wrapper(state_, value, *this);
      case Guard::Kind::kModule:
        return is_named && PyModule_Check(value) &&
               is_same_text(importable_name(state_, value, loaded_.get()),
                            guard->module.get());
      case Guard::Kind::kGlobal:
        return global(*guard, value);
      case Guard::Kind::kByValue:
        if (!PyFunction_Check(value) && !PyType_CheckExact(value)) return false;
        if (find_by_own_name(state_, value).module) return false;
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

  static bool is_of_type(const Guard& guard, PyObject* value) {
    return reinterpret_cast<PyObject*>(Py_TYPE(value)) == guard.held.get();
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
  const NodeGuards& guards_;
  const Ref loaded_;
  std::size_t guard_ = 0, code_ = 0;
};

std::unique_ptr<NodeGuards> NodeGuards::note(const State& state, PyObject* root,
                                             std::vector<MetObject>& met) {
  auto guards = std::make_unique<NodeGuards>();
  guards->generation_ = state.cache_generation;
  Noting noting(state, *guards, met);
  const bool is_noted = walk_reach(state, root, noting) && noting.can_be_compared();
  return is_noted ? std::move(guards) : nullptr;
}

bool NodeGuards::hold(const State& state, PyObject* root,
                      std::vector<MetObject>& met) const {
  if (!is_current(state)) return false;
  Comparing comparing(state, *this, met);
  if (!walk_reach(state, root, comparing) || !comparing.is_at_end()) return false;
  return std::ranges::all_of(seen_.types, is_unchanged) &&
         std::ranges::all_of(seen_.steps, [&](const SeenStep& step) {
           return is_still(state, step, comparing.loaded());
         });
}

}  // namespace waybill::py
