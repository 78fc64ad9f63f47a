#pragma once

// What the caller of a loads says of the devices that arrays go to: `map_location`,
// which code that the payload calls asks for.

#include <Python.h>

#include "python/runtime/ref.h"

namespace waybill::py {

// Has chosen_devices() give `map_location` in this thread as long as this lives. Inside
// of each other the innermost counts; null changes nothing.
class ChosenDevices {
 public:
  // Throws PyError.
  explicit ChosenDevices(PyObject* map_location);
  ~ChosenDevices();
  ChosenDevices(const ChosenDevices&) = delete;
  ChosenDevices& operator=(const ChosenDevices&) = delete;

 private:
  Ref threads_dict_;  // Null if nothing was changed.
  Ref before_;
};

// What the innermost loads of this thread was given that was given any; else None.
// Throws PyError.
Ref chosen_devices();

}  // namespace waybill::py
