#pragma once

// Converts steps of a walk to steps of a path. Runs no code of the program.

#include <Python.h>

#include <cstdint>
#include <span>
#include <string>

#include "python/encode/paths/label.h"
#include "python/walker/code_info.h"

namespace waybill::py {

// Whether Python code can spell an attribute of this name as `.name`.
bool is_attribute_name(PyObject* name);

// The label of a value that the state of `owner` has under this name.
Label label_in_state(PyObject* owner, PyObject* name, PyObject* value);

// A step of a walk: from `owner` by `label` to `object`, which may be null.
struct WalkStep {
  PyObject* owner = nullptr;
  const Label* label = nullptr;
  PyObject* object = nullptr;
};

// A step of a path: from `owner` by `label`.
struct PathStep {
  PyObject* owner = nullptr;  // Null if its methods cannot have captured the object.
  Label label;
  // It also replaces the previous step, which led to the state.
  bool skips_state = false;
};

// The step of a path for a step of a walk. If `owner` itself has what its reducer
// returned, the step is an attribute or an item of `owner`. `around`: the step that led
// to `owner`; null if that is the root.
PathStep path_step(const WalkStep* around, const WalkStep& step);

// The code that captured an object, and its location.
struct Capture {
  std::string expression;  // "model.w"; empty if a function only holds the object.
  std::string function;    // Qualified name of the code.
  std::string file;        // Empty if no such code is known.
  std::uint32_t line = 0;
};
// The innermost code on the path that captured the object: the load of the last
// variable, with as many attributes of the path as possible, or `self.name` in a
// method, for an attribute of a class. Without such code, the methods of an instance's
// class are searched for the attribute. Throws PyError. Cost: linear in the length of
// the functions on the path.
Capture capture_of(CodeInfos& infos, std::span<const PathStep> path);

}  // namespace waybill::py
