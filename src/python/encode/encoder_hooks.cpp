// What a caller has a say in while an object is written: persistent ids, reducers of a
// Pickler's own, the memo of a stream, replacements, ids of classes.
// Tested by tests/python/streams/test_pickler.py and
// tests/python/api/test_replacements.py.

#include "python/discovery/code_view.h"
#include "python/encode/graph_encoder.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"

namespace waybill::py {

using wire::NodeTag;

bool GraphEncoder::persistent(PyObject* object) {
  const Ref held = Ref::share(object);
  freeze();
  Ref id = Ref::steal(PyObject_CallOneArg(options_.hooks.persistent_id, object));
  if (id.get() == Py_None) return false;
  std::unique_ptr<Plan> plan = stack_.new_plan();
  out_.node(NodeTag::kPersistent, 1);
  plan->child_is_id();
  plan->child(std::move(id), Label::of_text(".persistent_id()"));
  plan->finish();
  push_plan(object, std::move(plan));
  return true;
}

bool GraphEncoder::overridden(PyObject* object) {
  const Ref answer =
      Ref::steal(PyObject_CallOneArg(options_.hooks.reducer_override, object));
  return answer.get() != Py_NotImplemented && planned(object, answer.get());
}

PyObject* GraphEncoder::place_in_stream(std::uintptr_t key) const {
  if (options_.hooks.memo == nullptr) return nullptr;
  const Ref address = Ref::steal(PyLong_FromSize_t(key));
  PyObject* place = raw_get(options_.hooks.memo, address.get());
  // The memo is a Pickler's public attribute.
  const bool is_place = place != nullptr && PyTuple_Check(place) &&
                        PyTuple_GET_SIZE(place) == 3 &&
                        PyLong_Check(PyTuple_GET_ITEM(place, 0)) &&
                        PyLong_Check(PyTuple_GET_ITEM(place, 1));
  return is_place ? place : nullptr;
}

bool GraphEncoder::earlier(std::uintptr_t key) {
  PyObject* place = place_in_stream(key);
  if (place == nullptr) return false;
  const auto payload = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(place, 0));
  const auto position = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(place, 1));
  check(PyErr_Occurred() ? -1 : 0);
  out_.node(NodeTag::kStreamReference, 2);
  out_.unsigned_integer(payload);
  out_.unsigned_integer(position);
  return true;
}

void GraphEncoder::remember() {
  const auto note = [this](std::uintptr_t key, PyObject* object) {
    const Ref address = Ref::steal(PyLong_FromSize_t(key));
    const Ref place = Ref::steal(Py_BuildValue(
        "(KKO)", static_cast<unsigned long long>(options_.hooks.payload),
        static_cast<unsigned long long>(memo_.find(key)->offset), object));
    check(PyDict_SetItem(options_.hooks.memo, address.get(), place.get()));
  };
  for (const Ref& object : keep_) {
    note(key_of(object.get()), object.get());
  }
  for (PyObject* globals : namespaces_) note(key_of_namespace(globals), globals);
}

void GraphEncoder::note_substitution(PyObject* object, std::string policy) {
  current_ = nullptr;
  const std::string where = path();
  current_ = object;
  imports().substitute({std::move(policy), Py_TYPE(object)->tp_name, where});
}

// What the tracker says, without asking it where it knows.
Ref GraphEncoder::own_id(PyObject* object) {
  if (PyObject* entry = tracked_entry(state_, object)) {
    return Ref::share(PyTuple_GET_ITEM(entry, 1));
  }
  return Ref::steal(PyObject_CallMethodOneArg(state_.tracker.get(),
                                              state_.names.id_of.get(), object));
}

// Objects that are equal in all their content stay two within a payload: the second
// gets the next number. Classes have ids of their own.
Ref GraphEncoder::id_among_twins(Ref id, PyObject* object) {
  const BytesView view = bytes_of(id.get());
  std::string bytes(view.begin(), view.end());
  for (;;) {
    const auto [found, is_new] = written_ids_.emplace(bytes, object);
    if (is_new || found->second == object) break;
    for (auto digit = bytes.rbegin(); digit != bytes.rend(); ++digit) {
      *digit = static_cast<char>(*digit + 1);
      if (*digit != 0) break;
    }
  }
  return Ref::steal(
      PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
}

Ref GraphEncoder::id_of(PyObject* object) {
  if (options_.names_no_ids) return Ref::share(Py_None);
  Ref id = own_id(object);
  if (!PyType_Check(object)) id = id_among_twins(std::move(id), object);
  if (object_with_id(state_, id.get()).get() != object) {
    Ref::steal(PyObject_CallMethodObjArgs(state_.tracker.get(), state_.names.sent.get(),
                                          id.get(), object, nullptr));
  }
  return id;
}

}  // namespace waybill::py
