// One walk over what a function or class reaches serves both: the first time it notes
// what is there, later it compares. What cannot be compared is refused, and the object
// is encoded each time.
//
// Globals, lists, dicts, module dicts and sys.modules are looked into each time and
// must show the same. Objects are compared by weak references, so none is held, and
// none that took the place of another is mistaken for it.
//
// Tested by tests/python/cache/test_kept_function_guards.py, test_kept_classes.py
// and test_kept_objects.py.

#include "python/guards/guards.h"

#include <algorithm>
#include <utility>

#include "python/guards/object_checks.h"
#include "python/guards/reduced_form.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

bool is_same_id(PyObject* a, PyObject* b) {
  return a == b || (a != nullptr && is_same_constant(b, a));
}

// Whether the step shows what it showed. `found`: see SeenStep.
bool is_still(const State& state, const SeenStep& step, PyObject* loaded) {
  PyObject* module = module_in(state, loaded, step.package.get());
  if (module == nullptr) return false;
  PyObject* value = look_into(state, module, step.name.get());
  PyObject* listed = module_in(state, loaded, step.whole.get());
  if (!step.found) {
    if (value == nullptr) return listed == nullptr && !kHasLazyImports;  // Pending?
    return !PyModule_Check(value) && !is_lazy_import(state, value) && value != loaded;
  }
  return listed != nullptr && (value == nullptr || value == listed) &&
         is_same_text(module_name(state, listed, loaded), step.found.get());
}

// Whether a list, or null, has the items of a tuple, or null.
bool has_items(PyObject* list, PyObject* tuple) {
  if (list == nullptr || tuple == nullptr) return list == tuple;
  return std::ranges::equal(items_of(list), items_of(tuple), is_same_text);
}

bool is_unchanged(const SeenType& seen) {
  const Ref type = weakly_referenced(seen.type.get());
  return type && type_version(as_type(type.get())) == seen.version;
}

}  // namespace

// Later looks: each thing must be what was noted.
class ReachGuards::Checker : public ReachVisitor {
 public:
  Checker(const State& state, CodeInfos& infos, const ReachGuards& guards,
          VisitedObjects& visited)
      : ReachVisitor(state, infos, visited),
        guards_(guards),
        loaded_(Ref::share(sys_modules(state))) {}

  bool is_at_end() const {
    return guard_ == guards_.guards_.size() && code_ == guards_.codes_.size();
  }

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
    PyObject* own_name = look_up(state_, globals, names.name.get());
    return guard->kind == Guard::Kind::kNamespace && is_new(key) &&
           is_same_text(own_name, guard->module.get()) &&
           is_same_text(look_up(state_, globals, names.package.get()),
                        guard->name.get()) &&
           namespace_bits(state_, globals, own_name) == guard->number &&
           add_visited(key, globals);
  }

  bool type(PyObject* object) {
    const Guard* guard = next(Guard::Kind::kType);
    return guard != nullptr && weakly_referenced(guard->held.get()).get() == object &&
           type_version(as_type(object)) == guard->number && is_home(state_, object) &&
           is_same_id(known_id(state_, object), guard->name.get());
  }

  bool attribute(PyObject*, PyObject* name, PyObject* value) {
    if (guard_ == guards_.guards_.size()) return false;
    if (guards_.guards_[guard_].kind == Guard::Kind::kGiven) return ++guard_, true;
    const Ref held = Ref::share(name);
    return this->value(value, false) && this->value(name, false);
  }

  bool method(PyObject* value) { return this->value(value, false); }

  bool count(std::size_t count) {
    const Guard* guard = next(Guard::Kind::kCount);
    return guard != nullptr && guard->number == count;
  }

  bool object(PyObject* object) {
    const Guard* guard = next();
    if (guard == nullptr) return false;
    if (guard->kind == Guard::Kind::kSeen) {
      return number_of(key_of(object)) == guard->number;
    }
    return guard->kind == Guard::Kind::kObject && add_new(object);
  }

  bool own_dict(PyObject* dict) {
    return is_new(key_of(dict)) && add_visited(key_of(dict), nullptr);
  }

  // Another order, of elements that are the same, is taken for a change.
  bool element(PyObject* value) {
    const Guard* guard = next(Guard::Kind::kConstant);
    return guard != nullptr && is_same_constant(guard->held.get(), value);
  }

  bool value(PyObject* value, bool is_named, int depth = 0) {
    const Guard* guard = next();
    if (guard == nullptr) return false;
    if (value == nullptr) return guard->kind == Guard::Kind::kAbsent;
    const Ref held = Ref::share(value);
    switch (guard->kind) {
      case Guard::Kind::kConstant:
        return is_same_constant(guard->held.get(), value) &&
               (!guard->is_shared || add_new_object(value));
      case Guard::Kind::kSeen:
        return number_of(key_of(value)) == guard->number;
      case Guard::Kind::kContainer:
        return type_of(value) == guard->held.get() &&
               static_cast<std::size_t>(count_of(value)) == guard->number &&
               add_new_object(value) && walk_items(value, *this, depth + 1);
      case Guard::Kind::kCall:
        return call(*guard, value, depth + 1);
      case Guard::Kind::kMembers:
        return members(*guard, value, depth + 1);
      case Guard::Kind::kPlaced:
        return placed(*guard, value);
      case Guard::Kind::kModule:
        return is_named && PyModule_Check(value) &&
               is_same_text(importable_name(state_, value, loaded_.get()),
                            guard->module.get());
      case Guard::Kind::kBuiltin:
        return guard->held.get() == value && is_new(key_of(value)) &&
               is_in_builtins(state_, value, guard->name.get()) &&
               add_visited(value, Kind::kName);
      case Guard::Kind::kGlobal:
        return global(*guard, value);
      case Guard::Kind::kMethod:
        return PyFunction_Check(value) && !find_by_own_name(state_, value).module &&
               is_new(key_of(value)) && add_visited(value, Kind::kWalked);
      case Guard::Kind::kNeeded:
        return (PyFunction_Check(value) || PyType_CheckExact(value)) &&
               !find_by_own_name(state_, value).module && is_new(key_of(value)) &&
               add_visited(value, Kind::kNeeded);
      default:
        return false;
    }
  }

 private:
  const Guard* next() {
    return guard_ == guards_.guards_.size() ? nullptr : &guards_.guards_[guard_++];
  }
  // The same if it is of this kind, else null.
  const Guard* next(Guard::Kind kind) {
    const Guard* guard = next();
    return guard != nullptr && guard->kind == kind ? guard : nullptr;
  }
  bool is_new(std::uintptr_t key) const { return number_of(key) == kNoIndex; }
  // Where there were two objects there must not be one now.
  bool add_new(PyObject* object) {
    return is_new(key_of(object)) && add_visited(key_of(object), object);
  }

  bool add_new_object(PyObject* object) {
    return is_new(key_of(object)) && add_object(object);
  }

  bool call(const Guard& guard, PyObject* value, int depth) {
    if (!add_new_object(value)) return false;
    const ReducedForm form = reduced_form_of(state_, value);
    if (!form.call ||
        static_cast<std::size_t>(PyTuple_GET_SIZE(form.call.get())) != guard.number) {
      return false;
    }
    const bool is_in_call = std::exchange(is_in_call_, true);
    const bool is_same = walk_call(form.call.get(), *this, depth);
    is_in_call_ = is_in_call;
    return is_same;
  }

  bool members(const Guard& guard, PyObject* value, int depth) {
    PyTypeObject* type = Py_TYPE(value);
    return weakly_referenced(guard.held.get()).get() == as_object(type) &&
           type_version(type) == guard.number && Py_TYPE(type) == &PyType_Type &&
           has_items(slot_names(state_.names, type), guard.name.get()) &&
           !is_reduced_by_user(state_, value) && is_made_by_newobj(state_) &&
           add_new(value) && walk_members(state_, value, *this, depth);
  }

  bool placed(const Guard& guard, PyObject* value) {
    if (!is_new(key_of(value)) || !add_visited(value, Kind::kName)) return false;
    const GlobalName place = reduced_form_of(state_, value).place;
    return place.module && is_same_text(place.path.get(), guard.name.get()) &&
           is_same_text(module_name(state_, place), guard.module.get());
  }

  bool global(const Guard& guard, PyObject* value) {
    if (weakly_referenced(guard.held.get()).get() != value || !is_new(key_of(value)) ||
        !add_visited(value, Kind::kName) || is_reduced_by_user(state_, value) ||
        !names_place(state_, value, guard.module.get(), guard.name.get())) {
      return false;
    }
    PyObject* module = module_in(state_, loaded_.get(), guard.module.get());
    return module != nullptr && look_into(state_, module, guard.name.get()) == value &&
           is_same_text(importable_name(state_, module, loaded_.get()),
                        guard.module.get());
  }

  const ReachGuards& guards_;
  const Ref loaded_;
  std::size_t guard_ = 0, code_ = 0;
};

bool ReachGuards::hold(const State& state, CodeInfos& infos, PyObject* root,
                       VisitedObjects& visited) const {
  if (!is_current(state)) return false;
  Checker checker(state, infos, *this, visited);
  return walk_reach(state, root, checker) && checker.is_at_end();
}

bool holds(const State& state, const SeenWorld& seen) {
  if (seen.types.empty() && seen.steps.empty()) return true;
  const Ref loaded = Ref::share(sys_modules(state));
  return std::ranges::all_of(seen.types, is_unchanged) &&
         std::ranges::all_of(seen.steps, [&](const SeenStep& step) {
           return is_still(state, step, loaded.get());
         });
}

}  // namespace waybill::py
