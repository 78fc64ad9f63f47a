// Tested by tests/python/classes/test_class_identity.py.

#include "python/encode/object_ids.h"

#include "python/runtime/identity.h"
#include "python/runtime/text.h"

namespace waybill::py {

// What the tracker says, without asking it where it knows.
Ref own_id(const State& state, PyObject* object) {
  if (PyObject* entry = tracked_entry(state, object)) {
    return Ref::share(PyTuple_GET_ITEM(entry, 1));
  }
  return Ref::steal(
      PyObject_CallMethodOneArg(state.tracker.get(), state.names.id_of.get(), object));
}

Ref text_id_of(const State& state, PyObject* type, bool is_asked) {
  if (!is_asked && PyDict_GET_SIZE(state.text_ids.get()) == 0) return {};
  return unless_none(Ref::steal(
      PyObject_CallMethodObjArgs(state.tracker.get(), state.names.text_id_of.get(),
                                 type, is_asked ? Py_True : Py_False, nullptr)));
}

// Objects that are equal in all their content stay two within a payload: the second
// gets the next number. Classes have ids of their own.
Ref ObjectIds::among_twins(Ref id, PyObject* object) {
  const BytesView view = bytes_of(id.get());
  std::string bytes(view.begin(), view.end());
  for (;;) {
    const auto [found, is_new] = written_.emplace(bytes, object);
    if (is_new || found->second == object) break;
    for (auto digit = bytes.rbegin(); digit != bytes.rend(); ++digit) {
      *digit = static_cast<char>(*digit + 1);
      if (*digit != 0) break;
    }
  }
  return new_bytes(bytes_of(bytes));
}

Ref ObjectIds::id_of(const State& state, PyObject* object) {
  Ref id = own_id(state, object);
  if (!PyType_Check(object)) id = among_twins(std::move(id), object);
  if (object_with_id(state, id.get()).get() != object) {
    Ref::steal(PyObject_CallMethodObjArgs(state.tracker.get(), state.names.sent.get(),
                                          id.get(), object, nullptr));
  }
  return id;
}

}  // namespace waybill::py
