#pragma once

// Which code brought an object along: the load of a variable, or of an attribute of a
// class, and where it stands.

#include <Python.h>

#include <cstdint>
#include <span>
#include <string>

#include "python/discovery/code_info.h"
#include "python/encode/paths/path_step.h"

namespace waybill::py {

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
