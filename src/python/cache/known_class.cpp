// Tested by tests/python/cache/test_known_classes.py.

#include "python/cache/known_class.h"

#include <algorithm>

#include "python/cache/methods.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

// Of what a class has: itself, and what the last payload said of it.
constexpr Py_ssize_t kOwners = 2;

}  // namespace

bool KnownClass::note(const State& state, PyObject* type) {
  version_ = 0;
  methods_.clear();
  wrappers_.clear();
  has_inner_wrappers_ = false;
  if (!PyType_Check(type) || identified_object(state, id_.get()).get() != type) {
    return false;
  }
  auto* cls = reinterpret_cast<PyTypeObject*>(type);
  const std::uint32_t version = assigned_version(cls, state.names.reduce_ex.get());
  if (version == 0) return false;
  is_home_ = is_home(state, type);
  serial_ = Ref::share(raw_get(state.class_serials.get(), id_.get()));
  // What a worker changes in it is to be set back each time.
  const Ref own_dict = type_dict(cls);
  if (raw_get(own_dict.get(), state.names.waybill_state.get()) != nullptr) return false;
  if (!is_home_ && !serial_) return false;
  type_ = Ref::steal(PyWeakref_NewRef(type, nullptr));
  const bool reaches = !is_home_;
  // Looking at what methods reach may run code.
  const Ref dict = type_dict(cls);
  const Ref names = Ref::steal(PyDict_Keys(dict.get()));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names.get()); ++i) {
    PyObject* name = PyList_GET_ITEM(names.get(), i);
    PyObject* found = raw_get(dict.get(), name);
    if (found == nullptr) return false;
    const Ref attribute = Ref::share(found);
    if (!note_functions(state, attribute.get(), reaches, kOwners)) return false;
    if (!wrapped_in(state, attribute.get()).empty()) {
      wrappers_.push_back(Ref::share(name));
    }
  }
  // All of it is there, if it is still that.
  version_ = type_version(cls) == version ? version : 0;
  return version_ != 0;
}

// False if it is wrapped too often to be looked into.
bool KnownClass::note_functions(const State& state, PyObject* attribute, bool reaches,
                                Py_ssize_t owners, int depth) {
  constexpr int kDeepest = 8;
  if (depth > kDeepest) return false;
  if (PyFunction_Check(attribute)) {
    return methods_.note(state, attribute, reaches, owners);
  }
  const std::span<const char* const> names = wrapped_in(state, attribute);
  if (names.empty()) return !reaches || !is_method(state, attribute);
  return std::ranges::all_of(names, [&](const char* name) {
    const Ref wrapped = get_attribute(attribute, name);
    has_inner_wrappers_ =
        has_inner_wrappers_ || !wrapped_in(state, wrapped.get()).empty();
    return note_functions(state, wrapped.get(), reaches, 1, depth + 1);
  });
}

bool KnownClass::has_held_methods() const {
  const Ref type = weakly_referenced(type_.get());
  if (!type || has_inner_wrappers_ || methods_.are_held()) return true;
  const Ref dict = type_dict(reinterpret_cast<PyTypeObject*>(type.get()));
  return std::ranges::any_of(wrappers_, [&](const Ref& name) {
    PyObject* wrapper = raw_get(dict.get(), name.get());
    return wrapper == nullptr || Py_REFCNT(wrapper) > kOwners;
  });
}

Ref KnownClass::find(const State& state) const {
  if (version_ == 0) return {};
  Ref type = weakly_referenced(type_.get());
  if (!type || type_version(reinterpret_cast<PyTypeObject*>(type.get())) != version_ ||
      identified_object(state, id_.get()).get() != type.get() ||
      // A class leaves its home by a fork alone, which empties the caches.
      (!is_home_ && raw_get(state.class_serials.get(), id_.get()) != serial_.get()) ||
      !methods_.are_same(state)) {
    return {};
  }
  // Now and then is enough to tell those that are used from those that are not.
  if (serial_ && finds_++ % 4 == 0) {
    check(PyDict_SetItem(state.class_uses.get(), id_.get(), Py_None));
  }
  return type;
}

}  // namespace waybill::py
