// Tested by tests/python/kinds/test_instances.py.

#include "python/encode/instances.h"

#include "python/encode/codec.h"
#include "python/encode/encode_context.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/walker/plain_instances.h"

namespace waybill::py {

Ref LastTypes::reducer_of(const State& state, PyObject* object) {
  auto* type = type_of(object);
  if (type == unreduced_.get()) return {};
  Ref reducer = own_reducer(state, object);
  if (!reducer) unreduced_ = Ref::share(type);
  return reducer;
}

bool LastTypes::is_plain(State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == plain_) return true;
  // The version of a class does not change with copyreg, nor with its list of slots.
  if (!is_made_by_newobj(state)) return false;
  PyObject* slots = slot_names(state.names, type);
  const bool has_slots = slots != nullptr && PyList_GET_SIZE(slots) != 0;
  if (!state.uses_caches || has_slots || !state.plain_types.know(type)) {
    if (!is_laid_out_plainly(state.names, type) || reducer_of(state, object)) {
      return false;
    }
    if (state.uses_caches) state.plain_types.note(type, type_version(type));
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
