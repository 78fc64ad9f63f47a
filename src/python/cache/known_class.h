#pragma once

// A class that came with an id, as it was when it was last compared with what came.

#include <Python.h>

#include <cstdint>
#include <utility>

#include "python/cache/known_functions.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Weak references to a class and its methods.
class KnownClass {
 public:
  explicit KnownClass(Ref id) : id_(std::move(id)) {}

  // Takes note of the class that has the id. False if `type` is none, or none whose
  // changes can be seen.
  bool note(const State& state, PyObject* type);

  // The class; null if it is gone, is not what its id means, if a payload has said
  // something else of it since, or if it, a class it is derived from, the code of a
  // method or, unless it is at home, what a method reaches
  // has changed.
  Ref find(const State& state) const;

  // Whether methods that came have these globals.
  bool has_globals(PyObject* globals) const { return methods_.has_globals(globals); }

 private:
  bool note_functions(const State& state, PyObject* attribute, bool reaches,
                      int depth = 0);

  Ref id_;
  Ref type_;  // A weak reference.
  std::uint32_t version_ = 0;
  Ref serial_;  // Of what the last payload said; null at home.
  bool is_home_ = false;
  mutable std::uint32_t finds_ = 0;
  KnownFunctions methods_;
};

}  // namespace waybill::py
