#pragma once

// Arrays of NumPy that share memory.

#include <Python.h>

#include <cstdint>
#include <vector>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Whether it is numpy.ndarray's own, of no subclass.
bool is_array(PyObject* object);

// A copy of an array whose items do not lie one after the other, in C or in Fortran
// order, or have bytes that belong to no field; null for all else, and for subclasses
// that say how they are copied or reduced. NumPy reduces such arrays in another way, or
// with whatever stands in those bytes, and equal arrays have one key.
Ref copy_in_order(const State& state, PyObject* object);

// Where an array lies in memory.
struct Extent {
  std::uintptr_t low = 0, high = 0;  // Of its first byte, and behind its last.
  std::uintptr_t start = 0;          // Of its first item.
};

// The arrays of a payload, and which of them share memory.
class ArrayViews {
 public:
  // Notes an array, which is kept alive.
  void add(PyObject* array);

  bool any() const { return !entries_.empty(); }

  // What tells how arrays of the payload travel that share memory, when it is written
  // again. Null if no two do; else runs Python. Cost: n log n for n arrays.
  Ref plan(const State& state) const;

  // What the plan says of an array: a reducer's answer, or null.
  static Ref answer(PyObject* plan, PyObject* array);

 private:
  struct Entry {
    Extent extent;
    Ref array;
  };
  std::vector<Entry> entries_;
};

}  // namespace waybill::py
