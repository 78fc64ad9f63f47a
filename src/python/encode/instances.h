#pragma once

// Instances of ordinary classes, which most objects of a program are. What
// object.__reduce_ex__ would say of them is known without calling it: their class, and
// their dict.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

struct EncodeContext;

// The dict of an instance that object.__reduce_ex__ would take apart as its class and
// its dict; null for all else.
Ref dict_of_ordinary(EncodeContext& context, PyObject* object);

// What was found out about the types of the last objects, since the next is often of
// the same.
class LastTypes {
 public:
  // own_reducer(), asked once in a row for a type that has none.
  Ref reducer_of(const State& state, PyObject* object);

  // Whether nothing but copyreg has a say in how instances are taken apart.
  bool is_plain(State& state, PyObject* object);
  // Called before other code runs, which may change the type.
  void forget_plain() { plain_ = nullptr; }

  void forget_all() { *this = {}; }

 private:
  Ref unreduced_;                  // The last without an own reducer.
  PyTypeObject* plain_ = nullptr;  // The last that was plain.
};

}  // namespace waybill::py
