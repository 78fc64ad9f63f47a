#pragma once

// NumPy arrays that share memory.

#include <Python.h>

#include <cstdint>
#include <vector>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Whether an object is exactly a numpy.ndarray.
bool is_array(PyObject* object);

// A contiguous copy of an array that is not contiguous in C or Fortran order, or whose
// items have padding bytes. NumPy would reduce such arrays differently, or write the
// undefined padding, but equal arrays must have equal bytes. Null for all other
// objects, and for subclasses that override copying or reduction.
Ref copy_in_order(const State& state, PyObject* object);

// The memory of an array.
struct Extent {
  std::uintptr_t low = 0, high = 0;  // First byte, and one past the last.
  std::uintptr_t start = 0;          // First byte of the first item.
};

// Collects the arrays of a payload, and finds those that share memory.
class ArrayViews {
 public:
  // Keeps the array alive.
  void add(PyObject* array);

  bool any() const { return !entries_.empty(); }

  // Makes a callable that decides, when the payload is written again, how arrays that
  // share memory travel. Null if no two share memory; else runs Python code. Cost: n
  // log n for n arrays.
  Ref make_plan(const State& state) const;

  // The reduced form that the plan gives to an array, or null.
  static Ref planned_form(PyObject* plan, PyObject* array);

 private:
  struct Entry {
    Extent extent;
    Ref array;
  };
  std::vector<Entry> entries_;
};

}  // namespace waybill::py
