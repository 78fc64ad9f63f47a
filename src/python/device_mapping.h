#pragma once

// The devices to which arrays are loaded: the `map_location` argument of loads().
// Functions that the payload calls look it up here.

#include <Python.h>

#include "python/runtime/ref.h"

namespace waybill::py {

// Makes `map_location` the current device mapping of this thread, for the lifetime of
// the scope. The innermost scope applies; a null `map_location` changes nothing.
class DeviceMappingScope {
 public:
  // Throws PyError.
  explicit DeviceMappingScope(PyObject* map_location);
  ~DeviceMappingScope();
  DeviceMappingScope(const DeviceMappingScope&) = delete;
  DeviceMappingScope& operator=(const DeviceMappingScope&) = delete;

 private:
  Ref thread_dict_;  // Null if nothing was changed.
  Ref previous_;
};

// The `map_location` of the innermost loads() call in this thread that has one; else
// None. Throws PyError.
Ref current_device_mapping();

}  // namespace waybill::py
