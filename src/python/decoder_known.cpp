// What the receiver has already: classes and the like that came before under the same
// id, and the modules of this payload.
// Tested by tests/python/test_class_identity.py.

#include <algorithm>

#include "python/attribute.h"
#include "python/compat.h"
#include "python/graph_decoder.h"
#include "python/methods.h"
#include "python/modules.h"

namespace waybill::py {

GraphDecoder::~GraphDecoder() {
  // What was not finished may be part of cycles, or in the hands of others.
  for (Frame& frame : stack_) {
    if (!frame.has_places()) continue;
    fill_holes(frame);
    PyObject_GC_Track(frame.object.get());
  }
  if (open_claims_.empty()) return;
  const CollectorPause::Break others(collector_);
  const PendingError pending;
  for (const Ref& id : open_claims_) {
    if (!Ref::steal_or_null(PyObject_CallMethodOneArg(
            state_.tracker.get(), state_.names.forget.get(), id.get()))) {
      PyErr_Clear();
    }
  }
  pending.restore();
}

void GraphDecoder::put_instead(PyObject* object) {
  // The frame of kInstead itself is on top.
  Frame* around = stack_.size() < 2 ? nullptr : &stack_[stack_.size() - 2];
  const wire::NodeTag tag = around == nullptr || around->codec == nullptr
                                ? wire::NodeTag{}
                                : around->codec->tag;
  const bool is_state =
      (tag == wire::NodeTag::kObject && around->children.size() == 2) ||
      (tag == wire::NodeTag::kNewObject && around->children.size() == 3);
  if (!is_state) {
    fail(ErrorCode::kMalformed, "an object that stands in for nothing");
  }
  around->instead = Ref::share(object);
}

PyObject* GraphDecoder::module_with(PyObject* dict) const {
  for (const Ref& module : own_modules_) {
    if (PyModule_GetDict(module.get()) == dict) return module.get();
  }
  return nullptr;
}

Ref GraphDecoder::claim(PyObject* id, PyObject* object, bool& is_known) {
  Ref answer = Ref::steal(PyObject_CallMethodObjArgs(
      state_.tracker.get(), state_.names.claim.get(), id, object, nullptr));
  PyObject* winner = PyTuple_GET_ITEM(answer.get(), 0);
  is_known = PyTuple_GET_ITEM(answer.get(), 1) == Py_True;
  if (!is_known) open_claims_.push_back(Ref::share(id));
  return Ref::share(winner);
}

void GraphDecoder::close_claim(PyObject* id, PyObject* object) {
  const auto found = std::find_if(open_claims_.begin(), open_claims_.end(),
                                  [&](const Ref& open) { return open.get() == id; });
  if (found == open_claims_.end()) return;
  Ref::steal(PyObject_CallMethodObjArgs(state_.tracker.get(), state_.names.close.get(),
                                        id, object, nullptr));
  open_claims_.erase(found);
}

bool GraphDecoder::has_open_base(PyObject* bases) const {
  for (PyObject* open : open_types_) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(bases); ++i) {
      PyObject* base = PyList_GET_ITEM(bases, i);
      if (PyType_Check(base) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(base),
                                                 reinterpret_cast<PyTypeObject*>(open)))
        return true;
    }
  }
  return false;
}

// An instance that is among the attributes of its class was there before them, as far
// as anybody can tell: a __new__ that gives out the only instance would look for it.
Ref GraphDecoder::new_without_attributes(PyTypeObject* type) const {
  if (open_types_.empty() || type->tp_mro == nullptr) return {};
  bool is_skipped = false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->tp_mro); ++i) {
    PyObject* base = PyTuple_GET_ITEM(type->tp_mro, i);
    const Ref dict = type_dict(reinterpret_cast<PyTypeObject*>(base));
    if (raw_get(dict.get(), state_.names.new_.get()) == nullptr) continue;
    const bool is_open = std::ranges::find(open_types_, base) != open_types_.end();
    if (!is_open) {
      return is_skipped ? Ref::steal(PyObject_GetAttr(base, state_.names.new_.get()))
                        : Ref();
    }
    is_skipped = true;
  }
  return {};
}

// A class that was there before keeps its state. Attributes that it has not are set,
// and methods: with them come the globals, cells and defaults that they share with the
// other functions of this payload. At home methods are the program's own, and only
// those whose code the sender has changed are set.
bool GraphDecoder::keeps_known(const Frame& frame, PyObject* name, PyObject* value) {
  const Ref dict = type_dict(reinterpret_cast<PyTypeObject*>(frame.object.get()));
  const Ref own = Ref::share(PyDict_GetItemWithError(dict.get(), name));
  if (!own) {
    if (PyErr_Occurred()) throw PyError();
    return false;
  }
  const bool is_sender_s =
      frame.is_home ? has_other_code(state_, own.get(), value)
                    : is_method(state_, own.get()) && is_method(state_, value);
  if (is_sender_s) return false;
  // What else in the payload refers to the attribute means the one that is there.
  const bool is_shared =
      last_slot_ != kNoSlot && slots_[last_slot_].object.get() == value;
  if (is_shared && Py_TYPE(own.get()) == Py_TYPE(value)) {
    slots_[last_slot_].object = own;
  }
  return true;
}

}  // namespace waybill::py
