// Tested by tests/python/untrusted/test_among_plain_data.py and
// tests/python/untrusted/test_holes.py.

#include "python/decode/build_state.h"

namespace waybill::py {

void BuildState::fill_holes(Frame& frame) {
  if (std::exchange(frame.has_no_holes, true)) return;
  PyObject* object = frame.object.get();
  if (frame.kind == FrameKind::kList) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object); ++i) {
      if (PyList_GET_ITEM(object, i) == nullptr) {
        PyList_SET_ITEM(object, i, Ref::share(Py_None).release());
      }
    }
  } else if (frame.kind == FrameKind::kTuple) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
      if (PyTuple_GET_ITEM(object, i) == nullptr) {
        PyTuple_SET_ITEM(object, i, Ref::share(Py_None).release());
      }
    }
  }
}

void BuildState::hide(Frame& frame) {
  frame.is_hidden = true;
  if (frame.has_places()) PyObject_GC_UnTrack(frame.object.get());
  // What the state holds may refer to the instance, and code that it calls may look at
  // it or fill it: until all is there it has nothing.
  if (frame.kind == FrameKind::kInstance && frame.slot != kNoSlot && !frame.is_apart) {
    const Ref dict = frame.object;
    frame.object = Ref::steal(PyDict_Copy(dict.get()));
    frame.is_apart = true;
    PyDict_Clear(dict.get());
  }
}

void BuildState::abandon() {
  for (Frame& frame : stack) {
    if (!frame.has_places()) continue;
    fill_holes(frame);
    show(frame);
  }
  stack.clear();
}

}  // namespace waybill::py
