#pragma once

// A class that came with an id, as it was when it was last compared with what came.

#include <Python.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "python/ref.h"
#include "python/state.h"

namespace waybill::py {

// What has this id; null if nothing has.
Ref object_with_id(const State& state, PyObject* id);

// The same if it is complete, else null.
Ref identified_object(const State& state, PyObject* id);

// The names under which a classmethod, staticmethod or property has the functions that
// it calls; none for all else.
std::span<const char* const> wrapped_in(PyObject* attribute);

// Weak references to a class and its methods, with the code they had.
class KnownClass {
 public:
  explicit KnownClass(Ref id) : id_(std::move(id)) {}

  // Takes note of the class that has the id. False if `type` is none, or none whose
  // changes can be seen.
  bool note(const State& state, PyObject* type);

  // The class; null if it is gone, is not what its id means, or if it, a class it is
  // derived from, or the code of a method has changed.
  Ref find(const State& state) const;

 private:
  struct Method {
    Ref function, code;  // Weak references.
  };

  bool note_functions(PyObject* attribute, int depth = 0);

  Ref id_;
  Ref type_;  // A weak reference.
  std::uint32_t version_ = 0;
  std::vector<Method> methods_;
};

}  // namespace waybill::py
