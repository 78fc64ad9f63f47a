// One walk over all that a function or class reaches has two visitors: Recorder makes
// the guards, and Checker later compares what is reached then with the guards. An
// object that cannot be compared is refused, and its function or class is not cached.
//
// Globals, lists, dicts, module dicts and sys.modules are read each time and must have
// the same content. Objects are compared by weak references: no object is kept alive,
// and a new object at the same address is not mistaken for the old one.
//
// Tested by tests/python/cache/test_cached_function_guards.py, test_cached_classes.py
// and test_cached_objects.py.

#include "python/guards/guards.h"

#include <algorithm>
#include <utility>

#include "python/guards/object_form.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"
#include "python/runtime/objects.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxGuards = 1024;
constexpr std::size_t kUsualGuards = 32;
constexpr int kMaxDepth = 8;  // The nesting of containers and objects.

bool is_same_id(PyObject* a, PyObject* b) {
  return a == b || (a != nullptr && is_same_constant(b, a));
}

// Whether the look-up still has the result that was traced.
bool is_step_unchanged(const State& state, const TracedStep& step, PyObject* loaded) {
  PyObject* module = module_in(state, loaded, step.package.get());
  if (module == nullptr) return false;
  PyObject* value = look_up_in(state, module, step.name.get());
  PyObject* listed = module_in(state, loaded, step.full_name.get());
  if (!step.found) {
    // With lazy imports, the attribute may be a pending import.
    if (value == nullptr) return listed == nullptr && !kHasLazyImports;
    return !PyModule_Check(value) && !is_lazy_import(state, value) && value != loaded;
  }
  return listed != nullptr && (value == nullptr || value == listed) &&
         is_same_text(module_name(state, listed, loaded), step.found.get());
}

// Whether a list has the items of a tuple; either may be null.
bool has_items(PyObject* list, PyObject* tuple) {
  if (list == nullptr || tuple == nullptr) return list == tuple;
  return std::ranges::equal(items_of(list), items_of(tuple), is_same_text);
}

bool is_type_unchanged(const TracedType& traced) {
  const Ref type = weakly_referenced(traced.type.get());
  return type && type_version(as_type(type.get())) == traced.version;
}

}  // namespace

// Records a guard for each visited object.
class ReachGuards::Recorder : public ReachVisitor {
 public:
  Recorder(const State& state, CodeInfos& infos, ReachGuards& guards,
           VisitedObjects& visited)
      : ReachVisitor(state, infos, visited), guards_(guards) {}

  bool visit_code(PyObject* code) {
    guards_.codes_.push_back(weak_reference(code));
    return true;
  }

  bool visit_globals(PyObject* globals) {
    const std::uintptr_t key = key_of_namespace(globals);
    const Names& names = state_.names;
    PyObject* own_name = raw_get(globals, names.name.get());
    if (add_back_reference(key)) return true;
    PyObject* package = raw_get(globals, names.package.get());
    if (!is_text_or_none(own_name) || !is_text_or_none(package)) return false;
    return add({.kind = Guard::Kind::kNamespace,
                .number = namespace_flags(state_, globals, own_name),
                .module = Ref::share(own_name),
                .name = Ref::share(package)}) &&
           add_visited(key, globals);
  }

  bool visit_type(PyObject* object) {
    auto* type = as_type(object);
    list_slots(state_, type);  // Before the walk of its dict, which this changes.
    const std::uint32_t version = assigned_version(type, state_.names.reduce_ex.get());
    PyObject* id = tracked_id(state_, object);
    if (id == nullptr || !is_determined_by_dict(state_, object) ||
        has_registered_classes(state_, object)) {
      return false;
    }
    // The bytes of a received class depend on what its home has sent.
    if (version == 0 || !is_home(state_, object)) guards_.is_checkable_ = false;
    return add({.kind = Guard::Kind::kType,
                .number = version,
                .held = weak_reference(object),
                .name = Ref::share(id)});
  }

  bool visit_attribute(PyObject* type, PyObject* name, PyObject* value) {
    const Ref held = Ref::share(name);
    if (is_implicit_attribute(state_, name) || is_slot(type, value))
      return add({Guard::Kind::kImplicit});
    return visit_method(value) && visit_value(name, false);
  }

  bool visit_method(PyObject* value) {
    const bool is_in_class = std::exchange(is_in_class_, true);
    const bool is_recorded = visit_value(value, false);
    is_in_class_ = is_in_class;
    return is_recorded;
  }

  bool visit_count(std::size_t count) {
    return add({.kind = Guard::Kind::kCount, .number = number(count)});
  }

  bool visit_object(PyObject* object) {
    return add_back_reference(key_of(object)) ||
           (add({Guard::Kind::kObject}) && add_visited(key_of(object), object));
  }

  // Elements are sorted by their bytes, so only constants have a known order.
  bool visit_element(PyObject* value) {
    if (!is_constant(value) || is_long_leaf(value)) return false;
    return add_constant(value);
  }

  bool visit_value(PyObject* value, bool is_named, int depth = 0) {
    if (value == nullptr) return add({Guard::Kind::kAbsent});
    const Ref held = Ref::share(value);  // Metaclasses may run Python code.
    if (is_constant(value)) return add_constant(value);
    if (PyModule_Check(value)) return is_named && add_module(value);
    if (add_back_reference(key_of(value))) return true;
    if (is_guarded_container(value)) return add_container(value, depth);
    if (depth == kMaxDepth) return false;
    if (const Ref name = name_of_builtin_type(state_, value)) {
      return add_builtin(value, name);
    }
    const ReducedForm form = reduced_form_of(state_, value);
    if (form.call) return add_call(value, form.call.get(), depth);
    if (form.place.module) return add_named(value, form.place);
    if (is_reduced_by_user(state_, value)) return false;
    if (GlobalName place = find_by_own_name(state_, value); place.module) {
      return add_global(value, place);
    }
    if (!PyFunction_Check(value) && !has_standard_metaclass(state_, value)) {
      return add_members(value, depth);
    }
    if (!is_in_class_ || !PyFunction_Check(value)) {
      return add({Guard::Kind::kDefinition}) && add_visited(value, Kind::kDefinition);
    }
    return add({Guard::Kind::kMethod}) && add_visited(value, Kind::kWalked);
  }

 private:
  template <typename Count>
  static std::uint32_t number(Count count) {
    return static_cast<std::uint32_t>(count);
  }

  bool add(Guard guard) {
    if (guards_.guards_.size() == kMaxGuards) return false;
    guards_.guards_.push_back(std::move(guard));
    return true;
  }

  // Adds a reference to an object that was visited; false if it was not.
  bool add_back_reference(std::uintptr_t key) {
    const std::uint32_t number = number_of(key);
    return number != kNoIndex && add({.kind = Guard::Kind::kVisited, .number = number});
  }

  bool add_constant(PyObject* value) {
    if (!is_long_leaf(value)) {
      return add({.kind = Guard::Kind::kConstant, .held = Ref::share(value)});
    }
    return add_back_reference(key_of(value)) ||
           (add_object(value) && add({.kind = Guard::Kind::kConstant,
                                      .is_shared = true,
                                      .held = copy_of_leaf(value)}));
  }

  bool add_module(PyObject* value) {
    PyObject* name = importable_name(state_, value);
    if (name == nullptr || !PyUnicode_CheckExact(name)) return false;
    return add({.kind = Guard::Kind::kModule, .module = Ref::share(name)});
  }

  bool add_container(PyObject* value, int depth) {
    const Py_ssize_t count = item_count(value);
    if (depth == kMaxDepth || count > static_cast<Py_ssize_t>(kMaxGuards)) return false;
    // A function in a dict or list of a class is not a method.
    const bool is_in_class = std::exchange(is_in_class_, false);
    const bool is_recorded = add_object(value) &&
                             add({.kind = Guard::Kind::kContainer,
                                  .number = number(count),
                                  .held = Ref::share(type_of(value))}) &&
                             walk_items(value, *this, depth + 1);
    is_in_class_ = is_in_class;
    return is_recorded;
  }

  bool add_call(PyObject* value, PyObject* call, int depth) {
    if (!add({.kind = Guard::Kind::kCall, .number = number(PyTuple_GET_SIZE(call))}) ||
        !add_object(value)) {
      return false;
    }
    const bool is_in_view = std::exchange(is_in_view_, is_value(value));
    const bool is_recorded = walk_call(call, *this, depth + 1);
    is_in_view_ = is_in_view;
    return is_recorded;
  }

  bool add_members(PyObject* value, int depth) {
    PyTypeObject* type = Py_TYPE(value);
    list_slots(state_, type);
    if (!travels_as_members(state_, value)) return false;
    const std::uint32_t version = assigned_version(type, state_.names.reduce_ex.get());
    if (version == 0) guards_.is_checkable_ = false;
    PyObject* slots = slot_names(state_.names, type);
    const bool is_in_class = std::exchange(is_in_class_, false);
    const bool is_recorded =
        add({.kind = Guard::Kind::kMembers,
             .number = version,
             .held = weak_reference(as_object(type)),
             .name = slots == nullptr ? Ref() : Ref::steal(PyList_AsTuple(slots))}) &&
        add_visited(key_of(value), value) &&
        walk_members(state_, value, *this, depth + 1);
    is_in_class_ = is_in_class;
    return is_recorded;
  }

  bool add_named(PyObject* value, const GlobalName& place) {
    return add({.kind = Guard::Kind::kNamed,
                .module = Ref::share(module_name(state_, place)),
                .name = place.path}) &&
           add_visited(value, Kind::kName);
  }

  bool add_builtin(PyObject* value, const Ref& name) {
    return add({.kind = Guard::Kind::kBuiltin,
                .held = Ref::share(value),
                .name = name}) &&
           add_visited(value, Kind::kName);
  }

  bool add_global(PyObject* value, const GlobalName& place) {
    PyObject* module = module_name(state_, place.module.get());
    PyObject* path = place.path.get();
    // Only top-level names of a module are guarded.
    if (module == nullptr || !PyUnicode_CheckExact(module) ||
        !PyUnicode_CheckExact(path) ||
        PyUnicode_FindChar(path, '.', 0, PyUnicode_GET_LENGTH(path), 1) >= 0) {
      return false;
    }
    return add({.kind = Guard::Kind::kGlobal,
                .held = weak_reference(value),
                .module = Ref::share(module),
                .name = place.path}) &&
           add_visited(value, Kind::kName);
  }

  ReachGuards& guards_;
};

// Compares each visited object with the next guard.
class ReachGuards::Checker : public ReachVisitor {
 public:
  Checker(const State& state, CodeInfos& infos, const ReachGuards& guards,
          VisitedObjects& visited)
      : ReachVisitor(state, infos, visited),
        guards_(guards),
        sys_modules_(Ref::share(sys_modules(state))) {}

  bool is_at_end() const {
    return guard_ == guards_.guards_.size() && code_ == guards_.codes_.size();
  }

  bool visit_code(PyObject* code) {
    return code_ < guards_.codes_.size() &&
           weakly_referenced(guards_.codes_[code_++].get()).get() == code;
  }

  bool visit_globals(PyObject* globals) {
    const Guard* guard = next();
    if (guard == nullptr) return false;
    const std::uintptr_t key = key_of_namespace(globals);
    if (guard->kind == Guard::Kind::kVisited) return number_of(key) == guard->number;
    const Names& names = state_.names;
    PyObject* own_name = look_up(state_, globals, names.name.get());
    return guard->kind == Guard::Kind::kNamespace && is_new(key) &&
           is_same_text(own_name, guard->module.get()) &&
           is_same_text(look_up(state_, globals, names.package.get()),
                        guard->name.get()) &&
           namespace_flags(state_, globals, own_name) == guard->number &&
           add_visited(key, globals);
  }

  bool visit_type(PyObject* object) {
    const Guard* guard = next(Guard::Kind::kType);
    return guard != nullptr && weakly_referenced(guard->held.get()).get() == object &&
           type_version(as_type(object)) == guard->number && is_home(state_, object) &&
           !has_registered_classes(state_, object) &&
           is_same_id(tracked_id(state_, object), guard->name.get());
  }

  bool visit_attribute(PyObject*, PyObject* name, PyObject* value) {
    if (guard_ == guards_.guards_.size()) return false;
    if (guards_.guards_[guard_].kind == Guard::Kind::kImplicit) return ++guard_, true;
    const Ref held = Ref::share(name);
    return visit_value(value, false) && visit_value(name, false);
  }

  bool visit_method(PyObject* value) { return visit_value(value, false); }

  bool visit_count(std::size_t count) {
    const Guard* guard = next(Guard::Kind::kCount);
    return guard != nullptr && guard->number == count;
  }

  bool visit_object(PyObject* object) {
    const Guard* guard = next();
    if (guard == nullptr) return false;
    if (guard->kind == Guard::Kind::kVisited) {
      return number_of(key_of(object)) == guard->number;
    }
    return guard->kind == Guard::Kind::kObject && add_new(object);
  }

  // The same elements in another order count as a change.
  bool visit_element(PyObject* value) {
    const Guard* guard = next(Guard::Kind::kConstant);
    return guard != nullptr && is_same_constant(guard->held.get(), value);
  }

  bool visit_value(PyObject* value, bool is_named, int depth = 0) {
    const Guard* guard = next();
    if (guard == nullptr) return false;
    if (value == nullptr) return guard->kind == Guard::Kind::kAbsent;
    const Ref held = Ref::share(value);
    switch (guard->kind) {
      case Guard::Kind::kConstant:
        return is_same_constant(guard->held.get(), value) &&
               (!guard->is_shared || add_new_object(value));
      case Guard::Kind::kVisited:
        return number_of(key_of(value)) == guard->number;
      case Guard::Kind::kContainer:
        return type_of(value) == guard->held.get() &&
               static_cast<std::size_t>(item_count(value)) == guard->number &&
               add_new_object(value) && walk_items(value, *this, depth + 1);
      case Guard::Kind::kCall:
        return match_call(*guard, value, depth + 1);
      case Guard::Kind::kMembers:
        return match_members(*guard, value, depth + 1);
      case Guard::Kind::kNamed:
        return match_named(*guard, value);
      case Guard::Kind::kModule:
        return is_named && PyModule_Check(value) &&
               is_same_text(importable_name(state_, value, sys_modules_.get()),
                            guard->module.get());
      case Guard::Kind::kBuiltin:
        return guard->held.get() == value && is_new(key_of(value)) &&
               is_in_builtins(state_, value, guard->name.get()) &&
               add_visited(value, Kind::kName);
      case Guard::Kind::kGlobal:
        return match_global(*guard, value);
      case Guard::Kind::kMethod:
        return PyFunction_Check(value) && !find_by_own_name(state_, value).module &&
               is_new(key_of(value)) && add_visited(value, Kind::kWalked);
      case Guard::Kind::kDefinition:
        return (PyFunction_Check(value) || has_standard_metaclass(state_, value)) &&
               !find_by_own_name(state_, value).module && is_new(key_of(value)) &&
               add_visited(value, Kind::kDefinition);
      default:
        return false;
    }
  }

 private:
  const Guard* next() {
    return guard_ == guards_.guards_.size() ? nullptr : &guards_.guards_[guard_++];
  }
  // The next guard; null if it is of another kind.
  const Guard* next(Guard::Kind kind) {
    const Guard* guard = next();
    return guard != nullptr && guard->kind == kind ? guard : nullptr;
  }
  bool is_new(std::uintptr_t key) const { return number_of(key) == kNoIndex; }
  // False if the object was visited under another number: two objects became one.
  bool add_new(PyObject* object) {
    return is_new(key_of(object)) && add_visited(key_of(object), object);
  }

  bool add_new_object(PyObject* object) {
    return is_new(key_of(object)) && add_object(object);
  }

  bool match_call(const Guard& guard, PyObject* value, int depth) {
    if (!add_new_object(value)) return false;
    const ReducedForm form = reduced_form_of(state_, value);
    if (!form.call ||
        static_cast<std::size_t>(PyTuple_GET_SIZE(form.call.get())) != guard.number) {
      return false;
    }
    const bool is_in_view = std::exchange(is_in_view_, is_value(value));
    const bool is_same = walk_call(form.call.get(), *this, depth);
    is_in_view_ = is_in_view;
    return is_same;
  }

  bool match_members(const Guard& guard, PyObject* value, int depth) {
    PyTypeObject* type = Py_TYPE(value);
    return weakly_referenced(guard.held.get()).get() == as_object(type) &&
           type_version(type) == guard.number && Py_TYPE(type) == &PyType_Type &&
           has_items(slot_names(state_.names, type), guard.name.get()) &&
           !is_reduced_by_user(state_, value) && has_original_newobj(state_) &&
           add_new(value) && walk_members(state_, value, *this, depth);
  }

  bool match_named(const Guard& guard, PyObject* value) {
    if (!is_new(key_of(value)) || !add_visited(value, Kind::kName)) return false;
    const GlobalName place = reduced_form_of(state_, value).place;
    return place.module && is_same_text(place.path.get(), guard.name.get()) &&
           is_same_text(module_name(state_, place), guard.module.get());
  }

  bool match_global(const Guard& guard, PyObject* value) {
    if (weakly_referenced(guard.held.get()).get() != value || !is_new(key_of(value)) ||
        !add_visited(value, Kind::kName) || is_reduced_by_user(state_, value) ||
        !has_recorded_name(state_, value, guard.module.get(), guard.name.get())) {
      return false;
    }
    PyObject* module = module_in(state_, sys_modules_.get(), guard.module.get());
    return module != nullptr && look_up_in(state_, module, guard.name.get()) == value &&
           is_same_text(importable_name(state_, module, sys_modules_.get()),
                        guard.module.get());
  }

  const ReachGuards& guards_;
  const Ref sys_modules_;
  std::size_t guard_ = 0, code_ = 0;
};

std::unique_ptr<ReachGuards> ReachGuards::record(const State& state, CodeInfos& infos,
                                                 PyObject* root,
                                                 VisitedObjects& visited) {
  auto guards = std::make_unique<ReachGuards>();
  guards->generation_ = state.cache_generation;
  guards->guards_.reserve(kUsualGuards);
  Recorder recorder(state, infos, *guards, visited);
  return walk_reach(state, root, recorder) ? std::move(guards) : nullptr;
}

bool ReachGuards::are_satisfied(const State& state, CodeInfos& infos, PyObject* root,
                                VisitedObjects& visited) const {
  if (!is_current(state)) return false;
  Checker checker(state, infos, *this, visited);
  return walk_reach(state, root, checker) && checker.is_at_end();
}

bool is_unchanged(const State& state, const LookupTrace& trace) {
  if (trace.types.empty() && trace.steps.empty()) return true;
  const Ref loaded = Ref::share(sys_modules(state));
  return std::ranges::all_of(trace.types, is_type_unchanged) &&
         std::ranges::all_of(trace.steps, [&](const TracedStep& step) {
           return is_step_unchanged(state, step, loaded.get());
         });
}

}  // namespace waybill::py
