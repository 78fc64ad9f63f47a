// Tested by tests/python/kinds/test_instances.py.

#include "python/encode/instances.h"

#include "python/encode/codec.h"
#include "python/encode/encode_context.h"
#include "python/encode/kept_table.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

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

Ref LastTypes::reducer_of(const State& state, PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  if (type == unreduced_.get()) return {};
  Ref reducer = own_reducer(state, object);
  if (!reducer) unreduced_ = Ref::share(type);
  return reducer;
}

bool LastTypes::is_plain(State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == plain_) return true;
  if (!state.uses_caches || !state.kept_classes->is_plain(type)) {
    if (!is_laid_out_plainly(state.names, type) || reducer_of(state, object)) {
      return false;
    }
    if (state.uses_caches) state.kept_classes->note_plain(type);
  }
  plain_ = type;
  return true;
}

Ref dict_of_ordinary(EncodeContext& context, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const EncodeHooks& hooks = context.hooks();
  if (hooks.reducer_override != nullptr || hooks.replace != nullptr ||
      hooks.memo != nullptr || hooks.persistent_id != nullptr ||
      !context.types.is_plain(context.state, object)) {
    return {};
  }
  // It may have to be made without its __new__.
  if (type->tp_new != PyBaseObject_Type.tp_new &&
      context.stack.is_within_method_of(context.state, type)) {
    return {};
  }
  if (context.by_value.any() && context.extensions.of_type(type) != nullptr) return {};
  // Somebody may register a reducer at any time.
  if (user_reducer(context, type)) return {};
  Ref dict = instance_dict(object);
  if (!dict || !PyDict_CheckExact(dict.get())) return {};
  // An attribute of the instance hides that of the class. The dict is the instance's
  // and ours; whoever else has it may have sent it already.
  if (has_own_say(context.state.names, dict.get()) || Py_REFCNT(dict.get()) > 2) {
    return {};
  }
  return dict;
}

}  // namespace waybill::py
