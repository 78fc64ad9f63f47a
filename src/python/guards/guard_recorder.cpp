// The first look at what a function or class reaches, which takes a note of each thing.
//
// Tested by tests/python/cache/test_kept_function_guards.py, test_kept_classes.py and
// test_kept_objects.py.

#include <utility>

#include "python/guards/guards.h"
#include "python/guards/object_checks.h"
#include "python/guards/reduced_form.h"
#include "python/runtime/attribute.h"
#include "python/runtime/identity.h"
#include "python/runtime/leaves.h"
#include "python/runtime/modules.h"
#include "python/walker/class_attributes.h"

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
    guards_.codes_.push_back(weak(code));
    return true;
  }

  bool name_space(PyObject* globals) {
    const std::uintptr_t key = key_of_namespace(globals);
    const Names& names = state_.names;
    PyObject* own_name = raw_get(globals, names.name.get());
    if (is_seen(key)) return true;
    PyObject* package = raw_get(globals, names.package.get());
    if (!is_text_or_none(own_name) || !is_text_or_none(package)) return false;
    return add({.kind = Guard::Kind::kNamespace,
                .number = namespace_bits(state_, globals, own_name),
                .module = Ref::share(own_name),
                .name = Ref::share(package)}) &&
           add_visited(key, globals);
  }

  bool type(PyObject* object) {
    auto* type = as_type(object);
    const std::uint32_t version = assigned_version(type, state_.names.reduce_ex.get());
    PyObject* id = known_id(state_, object);
    if (id == nullptr || !is_told_by_its_dict(state_, object)) return false;
    // What a payload has of a class that was received depends on what came of it.
    if (version == 0 || !is_home(state_, object)) guards_.can_hold_ = false;
    return add({.kind = Guard::Kind::kType,
                .number = version,
                .held = weak(object),
                .name = Ref::share(id)});
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
    return add({.kind = Guard::Kind::kCount, .number = number(count)});
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
  static Ref weak(PyObject* object) {
    return Ref::steal(PyWeakref_NewRef(object, nullptr));
  }
  template <typename Count>
  static std::uint32_t number(Count count) {
    return static_cast<std::uint32_t>(count);
  }

  bool add(Guard guard) {
    if (guards_.guards_.size() == kMaxGuards) return false;
    guards_.guards_.push_back(std::move(guard));
    return true;
  }

  bool is_seen(std::uintptr_t key) {
    const std::uint32_t seen = number_of(key);
    return seen != kNoIndex && add({.kind = Guard::Kind::kSeen, .number = seen});
  }

  bool constant(PyObject* value) {
    if (!is_long_leaf(value)) {
      return add({.kind = Guard::Kind::kConstant, .held = Ref::share(value)});
    }
    return is_seen(key_of(value)) ||
           (add_object(value) && add({.kind = Guard::Kind::kConstant,
                                      .is_shared = true,
                                      .held = copy_of_leaf(value)}));
  }

  bool module(PyObject* value) {
    PyObject* name = importable_name(state_, value);
    if (name == nullptr || !PyUnicode_CheckExact(name)) return false;
    return add({.kind = Guard::Kind::kModule, .module = Ref::share(name)});
  }

  bool container(PyObject* value, int depth) {
    const Py_ssize_t count = count_of(value);
    if (depth == kMaxDepth || count > static_cast<Py_ssize_t>(kMaxGuards)) return false;
    // What a dict or list of a class holds is no method.
    const bool is_in_class = std::exchange(is_in_class_, false);
    const bool is_noted = add_object(value) &&
                          add({.kind = Guard::Kind::kContainer,
                               .number = number(count),
                               .held = Ref::share(type_of(value))}) &&
                          walk_items(value, *this, depth + 1);
    is_in_class_ = is_in_class;
    return is_noted;
  }

  bool made_by(PyObject* value, PyObject* call, int depth) {
    if (!add({.kind = Guard::Kind::kCall, .number = number(PyTuple_GET_SIZE(call))}) ||
        !add_object(value)) {
      return false;
    }
    const bool is_in_call = std::exchange(is_in_call_, true);
    const bool is_noted = walk_call(call, *this, depth + 1);
    is_in_call_ = is_in_call;
    return is_noted;
  }

  bool members(PyObject* value, int depth) {
    PyTypeObject* type = Py_TYPE(value);
    if (!travels_as_members(state_, value)) return false;
    const std::uint32_t version = assigned_version(type, state_.names.reduce_ex.get());
    if (version == 0) guards_.can_hold_ = false;
    PyObject* slots = slot_names(state_.names, type);
    const bool is_in_class = std::exchange(is_in_class_, false);
    const bool is_noted =
        add({.kind = Guard::Kind::kMembers,
             .number = version,
             .held = weak(as_object(type)),
             .name = slots == nullptr ? Ref() : Ref::steal(PyList_AsTuple(slots))}) &&
        add_visited(key_of(value), value) &&
        walk_members(state_, value, *this, depth + 1);
    is_in_class_ = is_in_class;
    return is_noted;
  }

  bool placed(PyObject* value, const GlobalName& place) {
    return add({.kind = Guard::Kind::kPlaced,
                .module = Ref::share(module_name(state_, place)),
                .name = place.path}) &&
           add_visited(value, Kind::kName);
  }

  bool builtin(PyObject* value, const Ref& name) {
    return add({.kind = Guard::Kind::kBuiltin,
                .held = Ref::share(value),
                .name = name}) &&
           add_visited(value, Kind::kName);
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
    return add({.kind = Guard::Kind::kGlobal,
                .held = weak(value),
                .module = Ref::share(module),
                .name = place.path}) &&
           add_visited(value, Kind::kName);
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
