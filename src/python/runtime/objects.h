#pragma once

// Access to objects of the interpreter: casts to their structs, iteration over their
// items, new containers, calls, and tests for leaves.

#include <Python.h>

#include <functional>
#include <initializer_list>
#include <iterator>
#include <span>
#include <vector>

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

// The items of a tuple, or of a list that does not change meanwhile; empty for null.
inline std::span<PyObject* const> items_of(PyObject* sequence) {
  if (sequence == nullptr) return {};
  return {PySequence_Fast_ITEMS(sequence),
          static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence))};
}

// The MRO of a type; its first item is the type itself.
inline std::span<PyTypeObject* const> mro_of(PyTypeObject* type) {
  const auto items = items_of(type->tp_mro);
  return {reinterpret_cast<PyTypeObject* const*>(items.data()), items.size()};
}

// Iterates over a dict by PyDict_Next. Code that runs meanwhile may replace values, but
// must not add or remove keys.
class DictItems {
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

  explicit DictItems(PyObject* dict) : dict_(dict) {}
  Iterator begin() const { return Iterator(dict_); }
  std::default_sentinel_t end() const { return {}; }

 private:
  PyObject* dict_;
};

// A weak reference to an object; see weakly_referenced().
inline Ref weak_reference(PyObject* object) {
  return Ref::steal(PyWeakref_NewRef(object, nullptr));
}

// The objects that an object refers to, as tp_traverse of its type shows them: for
// types in C with no other way to read their parts. Borrowed.
inline std::vector<PyObject*> referents_of(PyObject* object) {
  std::vector<PyObject*> referents;
  const auto take = [](PyObject* referent, void* list) {
    static_cast<std::vector<PyObject*>*>(list)->push_back(referent);
    return 0;
  };
  if (const traverseproc traverse = Py_TYPE(object)->tp_traverse) {
    traverse(object, take, &referents);
  }
  return referents;
}

// A new tuple or list with the result of `convert`, a Ref, for each item of a range.
// Throws PyError.
template <typename Items, typename Convert = std::identity>
Ref new_tuple(const Items& items, Convert convert = {}) {
  Ref tuple = Ref::steal(PyTuple_New(std::ssize(items)));
  Py_ssize_t place = 0;
  for (const auto& item : items) {
    PyTuple_SET_ITEM(tuple.get(), place++, Ref(convert(item)).release());
  }
  return tuple;
}
inline Ref new_tuple(std::initializer_list<Ref> items) {
  return new_tuple<std::initializer_list<Ref>>(items);
}
template <typename Items, typename Convert>
Ref new_list(const Items& items, Convert convert) {
  Ref list = Ref::steal(PyList_New(0));
  for (const auto& item : items) check(PyList_Append(list.get(), convert(item).get()));
  return list;
}

// Calls a callable. Throws PyError.
template <typename... Arguments>
Ref call(PyObject* callable, Arguments*... arguments) {
  // The callee may use the slot before the arguments, as the flag says.
  PyObject* slot_and_arguments[] = {nullptr, arguments...};
  return Ref::steal(PyObject_Vectorcall(
      callable, slot_and_arguments + 1,
      sizeof...(arguments) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
}

// Calls a method by its name. Throws PyError.
template <typename... Arguments>
Ref call_method(PyObject* object, const Ref& name, Arguments*... arguments) {
  PyObject* slot_and_arguments[] = {nullptr, object, arguments...};
  return Ref::steal(PyObject_VectorcallMethod(
      name.get(), slot_and_arguments + 1,
      (1 + sizeof...(arguments)) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
}

// The argument of __reduce_ex__: pickle's newest protocol, in which reducers hand out
// buffers as PickleBuffer.
inline constexpr int kReduceProtocol = 5;

// `object`, or null if it is None.
inline Ref null_if_none(Ref object) {
  return object.get() == Py_None ? Ref() : std::move(object);
}

// ---- Leaves ----------------------------------------------------------------------

// Whether an object is a leaf of an exact builtin type: hash(), == and repr() run no
// Python code and read no other object.
inline bool is_simple(PyObject* object) {
  return PyUnicode_CheckExact(object) || PyLong_CheckExact(object) ||
         PyBytes_CheckExact(object) || PyFloat_CheckExact(object) ||
         PyBool_Check(object) || object == Py_None;
}

// Shorter text and bytes are not shared: a reference to them would save little.
inline constexpr Py_ssize_t kMinSharedLength = 64;

// Whether a leaf is long enough to be shared by identity.
inline bool is_long_leaf(PyObject* object) {
  if (PyUnicode_CheckExact(object))
    return PyUnicode_GET_LENGTH(object) >= kMinSharedLength;
  return PyBytes_CheckExact(object) && PyBytes_GET_SIZE(object) >= kMinSharedLength;
}

}  // namespace waybill::py
