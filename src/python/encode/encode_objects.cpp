// Writes objects that are neither leaves nor containers: as a reference to a
// definition, as a name that the receiver imports, as class and dict, or by a plan.
//
// Tested by tests/python/kinds, tests/python/modules and tests/python/cache.

#include "python/encode/codec.h"
#include "python/encode/graph_encoder.h"
#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/walker/class_attributes.h"
#include "python/walker/plain_instances.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

// Bounds the depth of objects that only reducers make, and that only the walk holds.
// Other data has no such bound.
constexpr std::uint32_t kMaxSynthesized = 10'000;

// The dict of an instance that object.__reduce_ex__ would reduce to class and dict, so
// that the instance is written without calling that method; null for all other objects.
Ref dict_of_plain_instance(EncodeContext& context, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const EncodeHooks& hooks = context.hooks();
  if (hooks.reducer_override != nullptr || hooks.replace != nullptr ||
      hooks.memo != nullptr || hooks.persistent_id != nullptr ||
      !context.types.is_plain(context.state, object)) {
    return {};
  }
  // The receiver may have to make the instance without its __new__.
  if (type->tp_new != PyBaseObject_Type.tp_new &&
      context.stack.is_within_method_of(context.state, type)) {
    return {};
  }
  if (context.by_value.any() && context.extensions.extension_of_type(type) != nullptr)
    return {};
  // A program may register a reducer at any time.
  if (user_reducer(context, type)) return {};
  Ref dict = instance_dict(object);
  if (!dict || !PyDict_CheckExact(dict.get())) return {};
  // An attribute of the instance hides that of the class. The instance and `dict` are
  // two owners. A further owner may have sent the dict already, and the rest of the
  // payload may refer to a dict that the guards of a definition hold.
  if (overrides_reduction(context.state.names, dict.get()) ||
      Py_REFCNT(dict.get()) > 2) {
    return {};
  }
  return dict;
}

}  // namespace

Ref RecentTypes::reducer_of(const State& state, PyObject* object) {
  auto* type = type_of(object);
  if (type == unreduced_.get()) return {};
  Ref reducer = own_reducer(state, object);
  if (!reducer) unreduced_ = Ref::share(type);
  return reducer;
}

bool RecentTypes::is_plain(State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == plain_) return true;
  // Changes of copyreg or of its list of slots do not change the version of a class.
  if (!has_original_newobj(state)) return false;
  PyObject* slots = slot_names(state.names, type);
  const bool has_slots = slots != nullptr && PyList_GET_SIZE(slots) != 0;
  if (!state.uses_caches || has_slots || !state.plain_types.contains(type)) {
    if (!has_plain_layout(state.names, type) || reducer_of(state, object)) {
      return false;
    }
    if (state.uses_caches) state.plain_types.add(type, type_version(type));
  }
  plain_ = type;
  return true;
}

bool GraphEncoder::write_instance(PyObject* object) {
  auto* type = type_of(object);
  // Classes by value are heap types.
  if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE)) return false;
  MemoEntry* written = context_.objects.find(key_of(type));
  if (written == nullptr ? !defines_ : !written->is_created) return false;
  const Ref dict = dict_of_plain_instance(context_, object);
  if (!dict) return false;
  wire::Writer& out = context_.out;
  if (written == nullptr) {
    context_.freeze();
    if (context_.is_first_pending()) context_.load_first();
    if (!context_.definitions().define(type)) return false;
    written = context_.objects.find(key_of(type));
  }
  out.node(NodeTag::kNewObject, 6);
  context_.objects.refer_to(*written, out);
  out.array(0);
  out.map(0);
  if (context_.objects.is_restarted(object)) {
    if (auto* entry = context_.objects.find(key_of(object))) entry->is_created = true;
  }
  const Py_ssize_t count = PyDict_GET_SIZE(dict.get());
  if (count == 0) {
    out.nil();
    out.array(0);
    out.map(0);
    return true;
  }
  out.map(checked_count(count));
  context_.stack.push(Frame::Kind::kDict, dict.get(), count);
  context_.stack.back().is_state = true;
  context_.stack.back().owner = Ref::share(object);
  return true;
}

bool GraphEncoder::write_own_module(PyObject* module) {
  const std::uintptr_t key = key_of(module);
  const bool is_continued = !context_.extensions.is_extension(module) &&
                            context_.objects.find(key) != nullptr &&
                            !context_.needs.unwritten(module).empty();
  return (is_continued || !context_.refer_or_add(key)) && write_object(module);
}

bool GraphEncoder::write_object(PyObject* object) {
  context_.freeze();
  if (context_.is_first_pending()) context_.load_first();
  if (defines_ && write_defined(object)) return true;
  if (context_.hooks().reducer_override != nullptr && write_overridden(object))
    return true;
  if (write_stand_in(object)) return true;
  const bool is_by_value = context_.options.root_by_value && object == context_.root;
  if (!context_.by_value.any() && !is_by_value &&
      write_builtin_type(context_, object)) {
    return true;
  }
  GlobalName name;
  if (PyFunction_Check(object) && !is_by_value)
    name = find_function(context_.state, object);
  if (PyType_Check(object) && !is_reduced_by_metaclass(context_, object)) {
    name = find_type(context_.state, as_type(object));
    // A class may say that it lives elsewhere, as those of _pydatetime do.
    if (!name.module) name = class_beside_function(context_, object);
  }
  if (name.module && !is_findable(context_.state, name.module.get())) name = {};
  if (name.module && !context_.by_value.has(name.module.get())) {
    return write_global(context_, name), true;
  }
  write_planned(object, nullptr);
  return true;
}

// For a bound method, only defines its class, which contains the function. The memo has
// `object` already, because it is written next.
bool GraphEncoder::write_defined(PyObject* object) {
  if (PyMethod_Check(object)) {
    PyObject* self = PyMethod_GET_SELF(object);
    auto* type = PyType_Check(self) ? self : type_of(self);
    const bool is_new = context_.objects.find(key_of(type)) == nullptr;
    if (is_new && has_standard_metaclass(context_.state, type)) {
      context_.definitions().define(type);
    }
    return false;
  }
  // A reader that compiles a class from source skips the functions of the class.
  const bool can_be_defined = PyFunction_Check(object)
                                  ? context_.stack.innermost_class() == nullptr
                                  : has_standard_metaclass(context_.state, object);
  if (!can_be_defined || !context_.definitions().define(object)) return false;
  context_.objects.refer_to(*context_.objects.find(key_of(object)), context_.out);
  return true;
}

bool GraphEncoder::write_persistent(PyObject* object) {
  const Ref held = Ref::share(object);
  context_.freeze();
  Ref id = call(context_.hooks().persistent_id, object);
  if (id.get() == Py_None) return false;
  std::unique_ptr<Plan> plan = context_.stack.new_plan();
  context_.out.node(NodeTag::kPersistent, 1);
  plan->mark_child_id();
  plan->add_child(std::move(id), Label::of_marker("persistent id"));
  plan->finish();
  push_plan(object, std::move(plan));
  return true;
}

bool GraphEncoder::write_overridden(PyObject* object) {
  const Ref reduction = call(context_.hooks().reducer_override, object);
  return reduction.get() != Py_NotImplemented && write_planned(object, reduction.get());
}

bool GraphEncoder::write_stand_in(PyObject* object) {
  if (!context_.by_value.any()) return false;
  GlobalName name;
  PyObject* extension = context_.extensions.extension_of(object, name);
  if (extension == nullptr || !context_.stack.is_within_code()) return false;
  const Ref reduction =
      context_.extensions.stand_in(object, extension, name, context_.imports());
  return write_planned(object, reduction.get());
}

bool GraphEncoder::write_after_methods() {
  const auto [name, reduction] = context_.deferred.close_class();
  // None, because nothing refers to this object again.
  return reduction ? write_planned(Py_None, reduction.get())
                   : write_content(name.get());
}

bool GraphEncoder::write_planned(PyObject* object, PyObject* reduction) {
  std::unique_ptr<Plan> plan = context_.stack.new_plan();
  const std::size_t start = context_.out.size();
  try {
    if (reduction != nullptr) {
      describe_reduction(context_, object, reduction, *plan);
    } else {
      find_codec(context_, object)(context_, object, *plan);
    }
  } catch (const PyError&) {
    if (context_.out.size() != start || !write_refused(object)) throw;
    return true;
  }
  if (plan->has_no_child()) {
    context_.out.append(plan->raw().view());
    context_.stack.give_back(std::move(plan));
    return true;
  }
  plan->finish();
  if (plan->creates_late()) {
    if (MemoEntry* entry = context_.objects.find(key_of(object))) {
      entry->is_created = false;
    }
  }
  push_plan(object, std::move(plan));
  return true;
}

bool GraphEncoder::write_refused(PyObject* object) {
  // Reducers raise TypeError for "cannot pickle". Any other error is intended.
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  const Ref refusal = take_error();
  if (write_as_global(context_, object)) return true;
  const Ref fresh = fresh_reduction(context_, object);
  if (fresh) return write_planned(object, fresh.get());
  restore_error(refusal);
  return false;
}

void GraphEncoder::push_plan(PyObject* object, std::unique_ptr<Plan> plan) {
  context_.stack.push_plan(object, std::move(plan));
  if (context_.stack.back().synthesized > kMaxSynthesized) {
    context_.fail("is reduced without end: each reducer makes a new object");
  }
}

}  // namespace waybill::py
