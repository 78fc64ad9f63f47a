// Objects that later payloads of a stream may refer to: a dict of each payload, by
// position.
// Tested by tests/python/streams/test_pickler.py and
// tests/python/untrusted/test_bombs.py.

#include "python/decode/graph_decoder.h"

namespace waybill::py {

namespace {

// Of an object that nothing is noted about.
constexpr HashCost kAssumed = {16, 256};

}  // namespace

void GraphDecoder::remember(std::size_t offset, PyObject* object,
                            const HashCost& cost) {
  const auto position = static_cast<Py_ssize_t>(offset - start_);
  const Ref key = Ref::steal(PyLong_FromSsize_t(position));
  check(PyDict_SetItem(history_.get(), key.get(), object));
  if (cost.depth <= kAssumed.depth && cost.steps <= kAssumed.steps) return;
  const Ref cost_key = Ref::steal(PyLong_FromSsize_t(~position));
  const Ref noted = Ref::steal(Py_BuildValue("IK", cost.depth, cost.steps));
  check(PyDict_SetItem(history_.get(), cost_key.get(), noted.get()));
}

HashCost GraphDecoder::cost_of_earlier(const Frame& earlier) const {
  // What comparing it takes is not noted, so where that counts it is no key.
  if (built_.keys.is_strict()) return {kMaxHashDepth + 1, 1};
  HashCost cost = kAssumed;
  const Py_ssize_t payload =
      PyLong_AsSsize_t(earlier.part<wire::NodeTag::kStreamReference>("payload"));
  PyErr_Clear();  // Beyond any list.
  PyObject* history = hooks_.history;
  if (history == nullptr || payload < 0 || payload >= PyList_GET_SIZE(history)) {
    return cost;  // A bad reference, as find_earlier() will say.
  }
  const Ref key = Ref::steal(
      PyNumber_Invert(earlier.part<wire::NodeTag::kStreamReference>("position")));
  PyObject* noted =
      PyDict_GetItemWithError(PyList_GET_ITEM(history, payload), key.get());
  if (noted != nullptr) {
    check(PyArg_ParseTuple(noted, "IK", &cost.depth, &cost.steps) - 1);
  } else if (PyErr_Occurred()) {
    throw PyError();
  }
  return cost;
}

}  // namespace waybill::py
