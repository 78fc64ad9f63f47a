#pragma once

// What classes and functions are for is bound before they are complete.

#include <Python.h>

#include <memory_resource>
#include <vector>

#include "python/decode/frame.h"

namespace waybill::py {

// Binds what the class or function of the last frame is for, a name, a cell or an
// attribute: to build what that has, functions may have to run that read it. Methods
// are left out, for nothing can have them without their class.
void bind_early(std::pmr::vector<Frame>& stack, PyObject* object);

}  // namespace waybill::py
