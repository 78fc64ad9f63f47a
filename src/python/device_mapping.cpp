// Tested by tests/python/api/test_chosen_devices.py and
// tests/libraries/test_map_location.py.

#include "python/device_mapping.h"

#include <utility>

#include "python/runtime/attribute.h"
#include "python/runtime/py_error.h"

namespace waybill::py {

namespace {

// The key in the dict that each thread of an interpreter has for extensions.
constexpr char kKey[] = "waybill.map_location";

// The thread's dict for extensions. Throws PyError.
Ref thread_dict() {
  PyObject* dict = PyThreadState_GetDict();
  if (dict == nullptr) PyErr_NoMemory();
  check(dict == nullptr ? -1 : 0);
  return Ref::share(dict);
}

}  // namespace

DeviceMappingScope::DeviceMappingScope(PyObject* map_location) {
  if (map_location == nullptr) return;
  Ref dict = thread_dict();
  if (PyObject* previous = PyDict_GetItemString(dict.get(), kKey)) {
    previous_ = Ref::share(previous);
  }
  check(PyDict_SetItemString(dict.get(), kKey, map_location));
  thread_dict_ = std::move(dict);
}

DeviceMappingScope::~DeviceMappingScope() {
  if (!thread_dict_) return;
  const Ref error = take_error();
  const int done = previous_
                       ? PyDict_SetItemString(thread_dict_.get(), kKey, previous_.get())
                       : PyDict_DelItemString(thread_dict_.get(), kKey);
  if (done < 0) PyErr_Clear();
  restore_error(error);
}

Ref current_device_mapping() {
  const Ref dict = thread_dict();
  PyObject* chosen = PyDict_GetItemString(dict.get(), kKey);
  return Ref::share(chosen != nullptr ? chosen : Py_None);
}

}  // namespace waybill::py
