#pragma once

// Objects of the interpreter as C++ goes through them: by the types of their structs,
// item by item, and by calls.

#include <Python.h>

#include <iterator>
#include <span>

#include "python/runtime/ref.h"

namespace waybill::py {

template <typename Struct>
PyObject* as_object(Struct* object) {
  return reinterpret_cast<PyObject*>(object);
}
inline PyTypeObject* as_type(PyObject* object) {
  return reinterpret_cast<PyTypeObject*>(object);
}
inline PyFunctionObject* as_function(PyObject* object) {
  return reinterpret_cast<PyFunctionObject*>(object);
}
inline PyCodeObject* as_code(PyObject* object) {
  return reinterpret_cast<PyCodeObject*>(object);
}
inline PyObject* type_of(PyObject* object) { return as_object(Py_TYPE(object)); }

// The items of a tuple, or of a list that nothing changes meanwhile; none of null.
inline std::span<PyObject* const> items_of(PyObject* sequence) {
  if (sequence == nullptr) return {};
  return {PySequence_Fast_ITEMS(sequence),
          static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence))};
}

// The classes on the way of a type, which is the first of them.
inline std::span<PyTypeObject* const> order_of(PyTypeObject* type) {
  const auto items = items_of(type->tp_mro);
  return {reinterpret_cast<PyTypeObject* const*>(items.data()), items.size()};
}

// Goes through a dict as PyDict_Next does: what runs meanwhile may give other values to
// its keys.
class PairsOf {
 public:
  struct Pair {
    PyObject* key = nullptr;
    PyObject* value = nullptr;
  };
  class Iterator {
   public:
    explicit Iterator(PyObject* dict) : dict_(dict) { ++*this; }
    const Pair& operator*() const { return pair_; }
    void operator++() {
      is_at_end_ = PyDict_Next(dict_, &position_, &pair_.key, &pair_.value) == 0;
    }
    bool operator==(std::default_sentinel_t) const { return is_at_end_; }

   private:
    PyObject* dict_;
    Py_ssize_t position_ = 0;
    Pair pair_;
    bool is_at_end_ = false;
  };

  explicit PairsOf(PyObject* dict) : dict_(dict) {}
  Iterator begin() const { return Iterator(dict_); }
  std::default_sentinel_t end() const { return {}; }

 private:
  PyObject* dict_;
};

// What a callable answers. Throws PyError.
template <typename... Arguments>
Ref call(PyObject* callable, Arguments*... arguments) {
  PyObject* own_place_and_arguments[] = {nullptr, arguments...};
  return Ref::steal(PyObject_Vectorcall(
      callable, own_place_and_arguments + 1,
      sizeof...(arguments) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
}

// The same, or null where it is None.
inline Ref unless_none(Ref object) {
  return object.get() == Py_None ? Ref() : std::move(object);
}

}  // namespace waybill::py
