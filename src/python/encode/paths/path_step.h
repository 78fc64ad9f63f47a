#pragma once

// The steps of a path, told from those of a walk, and without code of the program.

#include <Python.h>

#include "python/encode/paths/label.h"

namespace waybill::py {

// Whether `.name` is how Python spells an attribute.
bool is_attribute_name(PyObject* name);

// How the value hangs on `owner`, whose state has it under that name.
Label label_in_state(PyObject* owner, PyObject* name, PyObject* value);

// A step of a walk: `label` led from `owner` to `object`, which may be null.
struct WalkStep {
  PyObject* owner = nullptr;
  const Label* label = nullptr;
  PyObject* object = nullptr;
};

// A step of a path: what it leads from, and how it goes on.
struct PathStep {
  PyObject* owner = nullptr;  // Null: it did not bring the object by its methods.
  Label label;
  // It takes the place of the step before it, too, which led to the state.
  bool skips_state = false;
};

// How an object hangs on its owner for who reads a path: what a reducer gave, and the
// owner has as its own, is an attribute or an item of that. `around`: the step that led
// to the owner; null where that is the root.
PathStep path_step(const WalkStep* around, const WalkStep& step);

}  // namespace waybill::py
