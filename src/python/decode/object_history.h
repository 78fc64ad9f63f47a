#pragma once

// Objects that later payloads of a stream may refer to.

#include <Python.h>

#include <cstddef>

#include "python/decode/key_guard.h"
#include "python/runtime/ref.h"

namespace waybill::py {

// A dict of one payload, {position: object}, in the list of all payloads of a stream.
class ObjectHistory {
 public:
  // `payloads`: the list, to which the dict is appended; null if there is no stream.
  explicit ObjectHistory(PyObject* payloads);

  explicit operator bool() const { return static_cast<bool>(objects_); }

  // Keeps an object, and what it takes as a key.
  void remember(std::size_t position, PyObject* object, const HashCost& cost);
  // What an object of an earlier payload takes as a key; `position` is an int.
  HashCost cost_of(Py_ssize_t payload, PyObject* position) const;

 private:
  PyObject* payloads_;
  Ref objects_;
};

}  // namespace waybill::py
