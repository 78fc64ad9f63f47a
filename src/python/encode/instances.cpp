// Instances of ordinary classes, which most objects of a program are. What
// object.__reduce_ex__ would say of them is known without calling it: their class, and
// their dict. The bytes are the same.
// Tested by tests/python/kinds/test_instances.py.

#include "python/encode/codec.h"
#include "python/encode/kept_table.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

// What makes a class say itself how it is taken apart.
bool has_own_say(const Names& names, PyObject* dict) {
  for (const Ref* name : {&names.reduce_ex, &names.reduce, &names.getstate,
                          &names.getnewargs_ex, &names.getnewargs, &names.class_}) {
    if (raw_get(dict, name->get()) != nullptr) return true;
  }
  // copyreg keeps a list there, empty for such classes; what others put there it takes.
  PyObject* slots = raw_get(dict, names.slotnames.get());
  return slots != nullptr && (!PyList_CheckExact(slots) || PyList_GET_SIZE(slots) != 0);
}

// Whether a type's own classes have a say, or its metaclass, which is asked first.
bool has_own_say(const Names& names, PyTypeObject* type) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type->tp_mro); ++i) {
    auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(type->tp_mro, i));
    if (base == &PyBaseObject_Type || base == &PyType_Type) continue;
    const Ref dict = type_dict(base);
    if (!dict || has_own_say(names, dict.get())) return true;
  }
  return false;
}

bool is_like_type(PyTypeObject* metaclass) {
  return metaclass->tp_getattro == PyType_Type.tp_getattro &&
         metaclass->tp_hash == PyType_Type.tp_hash && metaclass->tp_mro != nullptr;
}

// Whether instances have nothing but a dict and a list of weak references: no slots, no
// fields of an extension.
bool has_only_a_dict(PyTypeObject* type) {
  auto size = static_cast<std::size_t>(PyBaseObject_Type.tp_basicsize);
  if (type->tp_dictoffset > 0) size += sizeof(PyObject*);
  if (type->tp_weaklistoffset > 0) size += sizeof(PyObject*);
  return type->tp_itemsize == 0 && static_cast<std::size_t>(type->tp_basicsize) <= size;
}

// Whether object.__reduce_ex__ takes the instances apart, as their class and their
// dict.
bool is_laid_out_plainly(const Names& names, PyTypeObject* type) {
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) || !has_only_a_dict(type) ||
      type->tp_getattro != PyObject_GenericGetAttr || type->tp_mro == nullptr) {
    return false;
  }
  PyTypeObject* metaclass = Py_TYPE(type);
  if (has_own_say(names, type)) return false;
  return metaclass == &PyType_Type ||
         (is_like_type(metaclass) && !has_own_say(names, metaclass));
}

}  // namespace

bool GraphEncoder::is_taken_apart_by_object(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == plain_type_) return true;
  if (!state_.uses_caches || !state_.kept_classes->is_plain(type)) {
    if (!is_laid_out_plainly(state_.names, type) || reducer_of(object)) return false;
    if (state_.uses_caches) state_.kept_classes->note_plain(type);
  }
  plain_type_ = type;
  return true;
}

Ref GraphEncoder::state_of_plain(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const EncodeHooks& hooks = options_.hooks;
  if (hooks.reducer_override != nullptr || hooks.replace != nullptr ||
      hooks.memo != nullptr || hooks.persistent_id != nullptr ||
      !is_taken_apart_by_object(object)) {
    return {};
  }
  // It may have to be made without its __new__.
  if (type->tp_new != PyBaseObject_Type.tp_new &&
      stack_.is_within_method_of(state_, type)) {
    return {};
  }
  if (hooks.by_value != nullptr && extension_of(type) != nullptr) return {};
  // Somebody may register a reducer at any time.
  if (user_reducer(*this, type)) return {};
  Ref dict = instance_dict(object);
  if (!dict || !PyDict_CheckExact(dict.get())) return {};
  // An attribute of the instance hides that of the class. The dict is the instance's
  // and ours; whoever else has it may have sent it already.
  if (has_own_say(state_.names, dict.get()) || Py_REFCNT(dict.get()) > 2) return {};
  return dict;
}

bool GraphEncoder::instance(PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  MemoEntry* written = memo_.find(key_of(type));
  std::shared_ptr<KeptNode> kept = written == nullptr ? kept_class(type) : nullptr;
  if (written == nullptr ? !kept : !written->is_created) return false;
  const Ref dict = state_of_plain(object);
  if (!dict) return false;
  if (kept) {
    if (!take_class(std::move(kept), type)) return false;
  } else {
    out_.node(NodeTag::kNewObject, 6);
    reference(*written);
  }
  out_.array(0);
  out_.map(0);
  if (object == restarted_) {
    if (auto* entry = memo_.find(key_of(object))) entry->is_created = true;
  }
  const Py_ssize_t count = PyDict_GET_SIZE(dict.get());
  if (count == 0) {
    out_.nil();
    out_.array(0);
    out_.map(0);
    return true;
  }
  out_.map(countable(count));
  stack_.push(Frame::Kind::kDict, dict.get(), count);
  stack_.back().is_state = true;
  return true;
}

}  // namespace waybill::py
