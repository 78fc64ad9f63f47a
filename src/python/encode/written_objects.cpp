// Tested by tests/python/kinds/test_sharing.py and
// tests/python/streams/test_pickler.py.

#include "python/encode/written_objects.h"

#include "python/runtime/compat.h"
#include "python/runtime/version_caches.h"

namespace waybill::py {

void WrittenObjects::refer_to(MemoEntry& entry, wire::Writer& out) {
  if (entry.reference == 0) {
    shared_.push_back(entry.offset);
    entry.reference = static_cast<std::uint32_t>(shared_.size());
  }
  out.index(wire::ExtType::kReference, entry.reference - 1);
}

void WrittenObjects::restart(MemoEntry& entry, std::uint64_t offset) {
  restarted_ = entry.key;
  entry.offset = offset;
  has_restarts_ = true;
}

bool WrittenObjects::refer_to_stream(std::uintptr_t key, wire::Writer& out) const {
  const Ref address = Ref::steal(PyLong_FromSize_t(key));
  PyObject* place = raw_get(stream_, address.get());
  // A Pickler's memo is a public attribute, so a program may have put anything there.
  const bool is_place = place != nullptr && PyTuple_Check(place) &&
                        PyTuple_GET_SIZE(place) == 3 &&
                        PyLong_Check(PyTuple_GET_ITEM(place, 0)) &&
                        PyLong_Check(PyTuple_GET_ITEM(place, 1));
  if (!is_place) return false;
  const auto payload = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(place, 0));
  const auto position = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(place, 1));
  check(PyErr_Occurred() ? -1 : 0);
  out.node(wire::NodeTag::kStreamReference, 2);
  out.unsigned_integer(payload);
  out.unsigned_integer(position);
  return true;
}

void WrittenObjects::add_to_stream() {
  if (stream_ == nullptr) return;
  const auto add = [this](std::uintptr_t key, PyObject* object) {
    const Ref address = Ref::steal(PyLong_FromSize_t(key));
    const Ref place = Ref::steal(
        Py_BuildValue("(KKO)", static_cast<unsigned long long>(payload_),
                      static_cast<unsigned long long>(find(key)->offset), object));
    check(PyDict_SetItem(stream_, address.get(), place.get()));
  };
  for (const Ref& object : held_) add(key_of(object.get()), object.get());
  for (const std::uintptr_t key : namespaces_) {
    add(key, reinterpret_cast<PyObject*>(key & ~std::uintptr_t{1}));
  }
}

}  // namespace waybill::py
