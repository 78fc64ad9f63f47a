// The first look at what a function or class reaches, which takes a note of each thing.
//
// Tested by tests/python/cache/test_kept_function_guards.py, test_kept_classes.py and
// test_kept_objects.py.

#include <utility>

#include "python/discovery/class_attributes.h"
#include "python/guards/guards.h"
#include "python/guards/object_checks.h"
#include "python/guards/reduced_form.h"
#include "python/runtime/attribute.h"
#include "python/runtime/identity.h"
#include "python/runtime/leaves.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxGuards = 1024;
constexpr std::size_t kUsualGuards = 32;
constexpr int kMaxDepth = 8;  // Of containers and objects in each other.

}  // namespace

// The first look: takes a note of each thing.
class ReachGuards::Recorder : public ReachVisitor {
 public:
  Recorder(const State& state, CodeInfos& infos, ReachGuards& guards,
           VisitedObjects& visited)
      : ReachVisitor(state, infos, visited), guards_(guards) {}

  bool code(PyObject* code) {
    guards_.codes_.push_back(Ref::steal(PyWeakref_NewRef(code, nullptr)));
    return true;
  }

  bool name_space(PyObject* globals) {
    const std::uintptr_t key = key_of_namespace(globals);
    const Names& names = state_.names;
    PyObject* own_name = raw_get(globals, names.name.get());
    if (is_seen(key)) return true;
    PyObject* package = raw_get(globals, names.package.get());
    if (!is_text_or_none(own_name) || !is_text_or_none(package)) return false;
    Guard guard{Guard::Kind::kNamespace};
    guard.number = namespace_bits(state_, globals, own_name);
    guard.module = Ref::share(own_name);
    guard.name = Ref::share(package);
    return add(std::move(guard)) && add_visited(key, globals);
  }

  bool type(PyObject* object) {
    auto* type = as_type(object);
    Guard guard{Guard::Kind::kType};
    guard.number = assigned_version(type, state_.names.reduce_ex.get());
    PyObject* id = known_id(state_, object);
    if (id == nullptr || !is_told_by_its_dict(state_, object)) return false;
    // What a payload has of a class that was received depends on what came of it.
    if (guard.number == 0 || !is_home(state_, object)) guards_.can_hold_ = false;
    guard.held = Ref::steal(PyWeakref_NewRef(object, nullptr));
    guard.name = Ref::share(id);
    return add(std::move(guard));
  }

  bool attribute(PyObject* type, PyObject* name, PyObject* value) {
    const Ref held = Ref::share(name);
    if (is_given_to_class(state_, name) || is_slot(type, value))
      return add({Guard::Kind::kGiven});
    return method(value) && this->value(name, false);
  }

  bool method(PyObject* value) {
    const bool is_in_class = std::exchange(is_in_class_, true);
    const bool is_noted = this->value(value, false);
    is_in_class_ = is_in_class;
    return is_noted;
  }

  bool count(std::size_t count) {
    Guard guard{Guard::Kind::kCount};
    guard.number = static_cast<std::uint32_t>(count);
    return add(std::move(guard));
  }

  bool object(PyObject* object) {
    return is_seen(key_of(object)) ||
           (add({Guard::Kind::kObject}) && add_visited(key_of(object), object));
  }

  bool own_dict(PyObject* dict) { return add_visited(key_of(dict), nullptr); }

  // Elements are sorted by what they are written as, which is known of constants.
  bool element(PyObject* value) {
    if (!is_constant(value) || is_long_leaf(value)) return false;
    return constant(value);
  }

  bool value(PyObject* value, bool is_named, int depth = 0) {
    if (value == nullptr) return add({Guard::Kind::kAbsent});
    const Ref held = Ref::share(value);  // Metaclasses may run code.
    if (is_constant(value)) return constant(value);
    if (PyModule_Check(value)) return is_named && module(value);
    if (is_seen(key_of(value))) return true;
    if (is_guarded_container(value)) return container(value, depth);
    if (depth == kMaxDepth) return false;
    if (const Ref name = name_of_builtin_type(state_, value)) {
      return builtin(value, name);
    }
    const ReducedForm form = reduced_form_of(state_, value);
    if (form.call) return made_by(value, form.call.get(), depth);
    if (form.place.module) return placed(value, form.place);
    if (is_reduced_by_user(state_, value)) return false;
    if (GlobalName place = find_by_own_name(state_, value); place.module) {
      return global(value, place);
    }
    if (!PyFunction_Check(value) && !PyType_CheckExact(value)) {
      return members(value, depth);
    }
    if (!is_in_class_ || !PyFunction_Check(value)) {
      return add({Guard::Kind::kNeeded}) && add_visited(value, Kind::kNeeded);
    }
    return add({Guard::Kind::kMethod}) && add_visited(value, Kind::kWalked);
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
    Guard guard{Guard::Kind::kConstant};
    if (!is_long_leaf(value)) {
      guard.held = Ref::share(value);
      return add(std::move(guard));
    }
    if (is_seen(key_of(value))) return true;
    guard.is_shared = true;
    guard.held = copy_of_leaf(value);
    return add_object(value) && add(std::move(guard));
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
    guard.held = Ref::share(type_of(value));
    // What a dict or list of a class holds is no method.
    const bool is_in_class = std::exchange(is_in_class_, false);
    const bool is_noted = add_object(value) && add(std::move(guard)) &&
                          walk_items(value, *this, depth + 1);
    is_in_class_ = is_in_class;
    return is_noted;
  }

  bool made_by(PyObject* value, PyObject* call, int depth) {
    Guard guard{Guard::Kind::kCall};
    guard.number = static_cast<std::uint32_t>(PyTuple_GET_SIZE(call));
    if (!add(std::move(guard)) || !add_object(value)) return false;
    const bool is_in_call = std::exchange(is_in_call_, true);
    const bool is_noted = walk_call(call, *this, depth + 1);
    is_in_call_ = is_in_call;
    return is_noted;
  }

  bool members(PyObject* value, int depth) {
    PyTypeObject* type = Py_TYPE(value);
    if (!travels_as_members(state_, value)) return false;
    Guard guard{Guard::Kind::kMembers};
    guard.number = assigned_version(type, state_.names.reduce_ex.get());
    if (guard.number == 0) guards_.can_hold_ = false;
    guard.held = Ref::steal(PyWeakref_NewRef(as_object(type), nullptr));
    if (PyObject* names = slot_names(state_.names, type)) {
      guard.name = Ref::steal(PyList_AsTuple(names));
    }
    const bool is_in_class = std::exchange(is_in_class_, false);
    const bool is_noted = add(std::move(guard)) && add_visited(key_of(value), value) &&
                          walk_members(state_, value, *this, depth + 1);
    is_in_class_ = is_in_class;
    return is_noted;
  }

  bool placed(PyObject* value, const GlobalName& place) {
    Guard guard{Guard::Kind::kPlaced};
    guard.module = Ref::share(module_name(state_, place));
    guard.name = place.path;
    return add(std::move(guard)) && add_visited(value, Kind::kName);
  }

  bool builtin(PyObject* value, const Ref& name) {
    Guard guard{Guard::Kind::kBuiltin};
    guard.held = Ref::share(value);
    guard.name = name;
    return add(std::move(guard)) && add_visited(value, Kind::kName);
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
    return add(std::move(guard)) && add_visited(value, Kind::kName);
  }

  ReachGuards& guards_;
};

std::unique_ptr<ReachGuards> ReachGuards::note(const State& state, CodeInfos& infos,
                                               PyObject* root,
                                               VisitedObjects& visited) {
  auto guards = std::make_unique<ReachGuards>();
  guards->generation_ = state.cache_generation;
  guards->guards_.reserve(kUsualGuards);
  Recorder recorder(state, infos, *guards, visited);
  return walk_reach(state, root, recorder) ? std::move(guards) : nullptr;
}

}  // namespace waybill::py
