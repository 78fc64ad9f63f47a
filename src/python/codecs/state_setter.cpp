// Items, then pairs, then state: pickle's order.
// Tested by tests/python/test_reduce.py.

#include "python/codecs/state_setter.h"

#include "python/attribute.h"
#include "python/compat.h"

namespace waybill::py {

namespace {

using Frame = GraphDecoder::Frame;

void add_items(const State& state, PyObject* object, PyObject* items) {
  const Py_ssize_t count = PyList_GET_SIZE(items);
  if (count == 0) return;
  // As pickle does it: who overrides append() to watch items does not see these.
  if (Ref extend = attribute_or_null(object, state.names.extend)) {
    Ref::steal(PyObject_CallOneArg(extend.get(), items));
    return;
  }
  const Ref append = Ref::steal(PyObject_GetAttrString(object, "append"));
  for (Py_ssize_t i = 0; i < count; ++i) {
    Ref::steal(PyObject_CallOneArg(append.get(), PyList_GET_ITEM(items, i)));
  }
}

void add_pairs(PyObject* object, PyObject* pairs) {
  const Py_ssize_t count = PyList_GET_SIZE(pairs);
  for (Py_ssize_t i = 0; i + 1 < count; i += 2) {
    check(PyObject_SetItem(object, PyList_GET_ITEM(pairs, i),
                           PyList_GET_ITEM(pairs, i + 1)));
  }
}

void set_attributes(PyObject* object, PyObject* attributes) {
  if (!PyDict_Check(attributes)) return;
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(attributes, &position, &name, &value)) {
    const Ref keep[] = {Ref::share(name), Ref::share(value)};
    check(PyObject_SetAttr(object, name, value));
  }
}

// The instance's dict takes the entries as they are: no __setattr__ runs.
void update_dict(const State& state, PyObject* object, PyObject* entries) {
  if (!PyDict_Check(entries) || PyDict_GET_SIZE(entries) == 0) return;
  const Ref dict = Ref::steal(PyObject_GetAttr(object, state.names.dict.get()));
  const bool is_dict = PyDict_CheckExact(dict.get());
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(entries, &position, &name, &value)) {
    PyObject* key = Ref::share(name).release();
    if (PyUnicode_CheckExact(key)) PyUnicode_InternInPlace(&key);
    const Ref interned = Ref::steal(key);
    const Ref held = Ref::share(value);
    check(is_dict ? PyDict_SetItem(dict.get(), interned.get(), value)
                  : PyObject_SetItem(dict.get(), interned.get(), value));
  }
}

void set_state(const State& state, PyObject* object, PyObject* value) {
  if (value == Py_None) return;
  if (Ref setter = attribute_or_null(object, state.names.setstate)) {
    Ref::steal(PyObject_CallOneArg(setter.get(), value));
    return;
  }
  if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 2) {
    update_dict(state, object, PyTuple_GET_ITEM(value, 0));
    set_attributes(object, PyTuple_GET_ITEM(value, 1));
  } else {
    update_dict(state, object, value);
  }
}

void finish(GraphDecoder& decoder, Frame& frame, std::size_t first) {
  PyObject* object = frame.object.get();
  add_items(decoder.state(), object, frame.children[first + 1].get());
  add_pairs(object, frame.children[first + 2].get());
  PyObject* value = frame.children[first].get();
  if (frame.children.size() > first + 3) {
    Ref::steal(PyObject_CallFunctionObjArgs(frame.children[first + 3].get(), object,
                                            value, nullptr));
  } else {
    set_state(decoder.state(), object, value);
  }
}

}  // namespace

Ref finish_reduced(GraphDecoder& decoder, Frame& frame) {
  finish(decoder, frame, 2);
  return {};
}

Ref finish_new(GraphDecoder& decoder, Frame& frame) {
  finish(decoder, frame, 3);
  return {};
}

}  // namespace waybill::py
