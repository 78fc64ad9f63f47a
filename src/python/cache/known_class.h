#pragma once

// A class that came with an id, as it was when it was last compared with what came.

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "python/cache/known_functions.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Weak references to a class and its methods.
class KnownClass {
 public:
  // `object`: its number among what nodes mean; see envelope::object_count().
  KnownClass(std::size_t object, Ref id) : object_(object), id_(std::move(id)) {}

  std::size_t object() const { return object_; }

  // Takes note of the class that has the id. False if `type` is none, or none whose
  // changes can be seen.
  bool note(const State& state, PyObject* type);

  bool is_at_home() const { return is_home_; }
  bool is_apart_from(const std::vector<PyObject*>& globals) const {
    return methods_.are_apart_from(globals);
  }
  // Whether functions that are made anew could not stand in for those that its methods
  // hold.
  bool holds_functions() const { return methods_.hold_functions(); }
  // What its methods have, see there. Those of a class that is at home are left alone.
  bool has_globals(PyObject* globals) const { return methods_.have_globals(globals); }
  bool has_held_methods() const;
  void move_to(PyObject* globals, std::vector<Ref>& old) const {
    methods_.move_to(globals, old);
  }

  // The class; null if it is gone, is not what its id means, if a payload has said
  // something else of it since, or if it, a class it is derived from, the code of a
  // method or, unless it is at home, what a method reaches
  // has changed.
  Ref find(const State& state) const;

 private:
  bool note_functions(const State& state, PyObject* attribute, bool reaches,
                      Py_ssize_t owners, int depth = 0);

  std::size_t object_;
  Ref id_;
  Ref type_;  // A weak reference.
  std::uint32_t version_ = 0;
  Ref serial_;  // Of what the last payload said; null at home.
  bool is_home_ = false;
  mutable std::uint32_t finds_ = 0;
  std::vector<Ref> wrappers_;  // Names of properties and the like.
  bool has_inner_wrappers_ = false;
  KnownFunctions methods_;
};

}  // namespace waybill::py
