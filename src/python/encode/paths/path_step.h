#pragma once

// The steps of a path, told from those of a walk, and without code of the program.

#include <Python.h>

#include <cstdint>
#include <span>
#include <string>

#include "python/encode/paths/label.h"
#include "python/walker/code_info.h"

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

// Which code brought an object along, and where it stands.
struct Capture {
  std::string expression;  // "model.w"; empty where a function only holds the object.
  std::string function;    // Qualified name of the code.
  std::string file;        // Empty: no code is known to bring it.
  std::uint32_t line = 0;
};
// The innermost code on the path: what loads the last variable, with the attributes
// that the path goes on with; or `self.name` in a method, for an attribute of a class.
// Without such code an instance's attribute is looked for in the methods of its class.
// Throws PyError. Cost: by the length of the functions on the path.
Capture capture_of(CodeInfos& infos, std::span<const PathStep> path);

}  // namespace waybill::py
