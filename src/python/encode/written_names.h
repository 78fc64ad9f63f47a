#pragma once

// What of the dicts of modules, functions and classes a payload has.

#include <Python.h>

#include <map>
#include <utility>
#include <vector>

#include "python/runtime/compat.h"
#include "python/runtime/memo.h"
#include "python/runtime/ref.h"

namespace waybill::py {

// The names of one globals dict whose values a payload has, or begins with.
class WrittenNames {
 public:
  // `name` is exact text; it need not be interned.
  bool has(PyObject* name) {
    const Ref interned = intern(name);
    return memo_.find(key_of(interned.get())) != nullptr;
  }

  // Answers whether the name is new.
  bool add(PyObject* name) {
    Ref interned = intern(name);
    const std::uintptr_t key = key_of(interned.get());
    if (memo_.find(key) != nullptr) return false;
    memo_.insert(key, 0);
    keep_.push_back(std::move(interned));
    return true;
  }

 private:
  static Ref intern(PyObject* name) {
    PyObject* interned = Ref::share(name).release();
    if (!PyUnicode_CHECK_INTERNED(interned)) PyUnicode_InternInPlace(&interned);
    return Ref::steal(interned);
  }

  Memo memo_;              // By address.
  std::vector<Ref> keep_;  // Its keys must not be freed and reused.
};

// All such dicts, which somebody else keeps alive.
class WrittenDicts {
 public:
  WrittenNames& names_of(PyObject* globals) { return names_[globals]; }

  // A class that travels by value, and the class whose own dict this is among those
  // that were noted: methods may hold the dict itself (the __classdict__ cell). Null if
  // none.
  void note_class(PyObject* type) {
    const Ref dict = type_dict(as_type(type));
    const std::uintptr_t key = key_of(dict.get());
    if (classes_.find(key) == nullptr) classes_.insert(key, key_of(type));
  }
  PyObject* class_of(PyObject* dict) const {
    const MemoEntry* entry = classes_.find(key_of(dict));
    return entry == nullptr ? nullptr : reinterpret_cast<PyObject*>(entry->offset);
  }

 private:
  std::map<PyObject*, WrittenNames> names_;
  Memo classes_;  // The offset is the address of the class.
};

}  // namespace waybill::py
