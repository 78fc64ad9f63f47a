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

// The class, and what the last payload said of it.
constexpr Py_ssize_t kOwnersOfMethod = 2;

// How often a wrapper has a function that it wraps: these two under __wrapped__, too.
Py_ssize_t owners_in(PyObject* wrapper) {
  const bool has_wrapped = Py_IS_TYPE(wrapper, &PyClassMethod_Type) ||
                           Py_IS_TYPE(wrapper, &PyStaticMethod_Type);
  return has_wrapped ? 2 : 1;
}

}  // namespace

bool KnownClass::note(const State& state, PyObject* type) {
  version_ = 0;
  methods_.clear();
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
  const Ref attributes = Ref::steal(PyDict_Values(dict.get()));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(attributes.get()); ++i) {
    PyObject* attribute = PyList_GET_ITEM(attributes.get(), i);
    if (!note_functions(state, attribute, reaches, kOwnersOfMethod)) return false;
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
    return note_functions(state, wrapped.get(), reaches, owners_in(attribute),
                          depth + 1);
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
