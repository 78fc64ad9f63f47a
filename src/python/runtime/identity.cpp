// Tested by tests/python/classes/test_class_identity.py.

#include "python/runtime/identity.h"

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

// The entry of an object in a dict {address: entry} of the tracker; borrowed, null if
// there is none.
PyObject* entry_in(const Ref& entries, PyObject* object) {
  const Ref address = Ref::steal(PyLong_FromVoidPtr(object));
  PyObject* entry = raw_get(entries.get(), address.get());
  const bool is_current =
      entry != nullptr && weakly_referenced(PyTuple_GET_ITEM(entry, 0)).get() == object;
  return is_current ? entry : nullptr;
}

}  // namespace

Ref object_with_id(const State& state, PyObject* id) {
  PyObject* reference = raw_get(state.known_objects.get(), id);
  return reference == nullptr ? Ref() : weakly_referenced(reference);
}

Ref identified_object(const State& state, PyObject* id) {
  Ref object = object_with_id(state, id);
  PyObject* open = state.open_objects.get();
  if (object && PyDict_GET_SIZE(open) != 0 && raw_get(open, id) != nullptr) return {};
  return object;
}

PyObject* tracked_entry(const State& state, PyObject* object) {
  return entry_in(state.known_ids, object);
}

bool has_id(const State& state, PyObject* object) {
  return tracked_entry(state, object) != nullptr;
}

bool has_source_id(const State& state, PyObject* type) {
  return PyDict_GET_SIZE(state.source_ids.get()) != 0 &&
         entry_in(state.source_ids, type) != nullptr;
}

bool is_from_source(const State& state, PyObject* type) {
  return type != nullptr && has_source_id(state, type) && !is_home(state, type);
}

bool is_home(const State& state, PyObject* type) {
  PyObject* entry = tracked_entry(state, type);
  return entry == nullptr || PyTuple_GET_ITEM(entry, 2) == Py_True;
}

// Calls the tracker only for an object without an entry.
Ref own_id(const State& state, PyObject* object) {
  if (PyObject* entry = tracked_entry(state, object)) {
    return Ref::share(PyTuple_GET_ITEM(entry, 1));
  }
  return call_method(state.tracker.get(), state.names.id_of, object);
}

Ref source_id_of(const State& state, PyObject* type, bool can_compute) {
  if (!can_compute && PyDict_GET_SIZE(state.source_ids.get()) == 0) return {};
  return null_if_none(call_method(state.tracker.get(), state.names.source_id_of, type,
                                  can_compute ? Py_True : Py_False));
}

// Objects with equal content have equal ids. In one payload the second object gets the
// next free id, so that they stay distinct. Ids of classes are unique.
Ref ObjectIds::distinguish(Ref id, PyObject* object) {
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
  if (!PyType_Check(object)) id = distinguish(std::move(id), object);
  if (object_with_id(state, id.get()).get() != object) {
    call_method(state.tracker.get(), state.names.record_sent, id.get(), object);
  }
  return id;
}

}  // namespace waybill::py
