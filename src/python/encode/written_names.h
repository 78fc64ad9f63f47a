#pragma once

// The names of one globals dict whose values a payload has, or begins with.

#include <Python.h>

#include <utility>
#include <vector>

#include "python/runtime/memo.h"
#include "python/runtime/ref.h"

namespace waybill::py {

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

}  // namespace waybill::py
