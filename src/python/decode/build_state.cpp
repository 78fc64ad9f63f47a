// Tested by tests/python/untrusted/test_among_plain_data.py and
// tests/python/untrusted/test_holes.py.

#include "python/decode/build_state.h"

#include <span>
#include <utility>

namespace waybill::py {

void BuildState::fill_holes(Frame& frame) {
  if (!frame.has_holes() || std::exchange(frame.are_holes_filled, true)) return;
  PyObject* object = frame.object.get();
  PyObject** const items = PySequence_Fast_ITEMS(object);
  for (PyObject*& item : std::span(items, PySequence_Fast_GET_SIZE(object))) {
    if (item == nullptr) item = Ref::share(Py_None).release();
  }
}

void BuildState::hide(Frame& frame) {
  frame.is_hidden = true;
  if (frame.has_holes()) PyObject_GC_UnTrack(frame.object.get());
  // Values of the state may refer to the instance, and code that they call may read or
  // set its attributes. So the instance has no attributes until all are complete.
  if (frame.kind == FrameKind::kInstance && frame.slot != kNoSlot &&
      !frame.is_detached) {
    const Ref dict = frame.object;
    frame.object = Ref::steal(PyDict_Copy(dict.get()));
    frame.is_detached = true;
    PyDict_Clear(dict.get());
  }
}

void BuildState::abandon() {
  for (Frame& frame : stack) {
    fill_holes(frame);
    show(frame);
  }
  stack.clear();
}

}  // namespace waybill::py
