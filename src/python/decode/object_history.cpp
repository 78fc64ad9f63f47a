// Tested by tests/python/streams/test_pickler.py and
// tests/python/untrusted/test_stream_bombs.py.

#include "python/decode/object_history.h"

namespace waybill::py {

namespace {

// Of an object that nothing is noted about.
constexpr HashCost kAssumed = {16, 256};

}  // namespace

ObjectHistory::ObjectHistory(PyObject* payloads) : payloads_(payloads) {
  if (payloads == nullptr) return;
  objects_ = Ref::steal(PyDict_New());
  check(PyList_Append(payloads, objects_.get()));
}

void ObjectHistory::remember(std::size_t position, PyObject* object,
                             const HashCost& cost) {
  const auto place = static_cast<Py_ssize_t>(position);
  const Ref key = Ref::steal(PyLong_FromSsize_t(place));
  check(PyDict_SetItem(objects_.get(), key.get(), object));
  if (cost.depth <= kAssumed.depth && cost.steps <= kAssumed.steps) return;
  const Ref cost_key = Ref::steal(PyLong_FromSsize_t(~place));
  const Ref noted = Ref::steal(Py_BuildValue("IK", cost.depth, cost.steps));
  check(PyDict_SetItem(objects_.get(), cost_key.get(), noted.get()));
}

HashCost ObjectHistory::cost_of(Py_ssize_t payload, PyObject* position) const {
  HashCost cost = kAssumed;
  if (payloads_ == nullptr || payload < 0 || payload >= PyList_GET_SIZE(payloads_)) {
    return cost;  // A bad reference, as find_earlier() will say.
  }
  const Ref key = Ref::steal(PyNumber_Invert(position));
  PyObject* noted =
      PyDict_GetItemWithError(PyList_GET_ITEM(payloads_, payload), key.get());
  if (noted != nullptr) {
    check(PyArg_ParseTuple(noted, "IK", &cost.depth, &cost.steps) - 1);
  } else if (PyErr_Occurred()) {
    throw PyError();
  }
  return cost;
}

}  // namespace waybill::py
