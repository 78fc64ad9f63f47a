// The walk over an object graph: leaves are written directly, containers and plans are
// put on the stack.
//
// Tested by tests/python/kinds/test_values.py, test_sharing.py, test_determinism.py.

#include "python/encode/graph_encoder.h"

#include "python/encode/codec.h"
#include "python/runtime/compat.h"
#include "python/runtime/objects.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

// Whether an instance of a type is visited only once if it has only one reference.
// Reducers of other types may return the same object again.
bool is_container(PyTypeObject* type) {
  return type == &PyDict_Type || type == &PyList_Type || type == &PyTuple_Type ||
         type == &PySet_Type || type == &PyFrozenSet_Type;
}

}  // namespace

template <typename Function>
void GraphEncoder::write_with_paths(PyObject* root, Function write) {
  context_.root = root;
  try {
    write();
  } catch (const PyError&) {
    if (!is_stopped()) context_.add_path_to_error();
    throw;
  }
}

void GraphEncoder::encode(PyObject* root) {
  encode_definition(root);
  finish_imports();
}

void GraphEncoder::encode_definition(PyObject* root) {
  write_with_paths(root, [&] {
    write_value(root);
    run();
    context_.objects.add_to_stream();
  });
}

// Most payloads with definitions otherwise contain data only, so their head is in the
// cache.
void GraphEncoder::finish_imports() {
  const PayloadDefinitions* definitions = context_.definitions_if_any();
  if (!context_.has_others() && definitions != nullptr) {
    head_ = definitions->find_head();
    if (head_) return;
    context_.others();
    is_head_new_ = true;
  }
  if (context_.has_others()) context_.imports().finish();
}

void GraphEncoder::encode_first(PyObject* tuple) {
  context_.out.node(NodeTag::kTuple, checked_count(PyTuple_GET_SIZE(tuple)));
  write_with_paths(tuple, [&] {
    push_after_first(tuple);
    write_value(PyTuple_GET_ITEM(tuple, 0));
    run(1);
  });
  pop();
  context_.prepare_for_forks();
  if (context_.definitions_if_any() != nullptr) context_.others();
}

void GraphEncoder::encode_rest(const GraphEncoder& first, const CachedHead& head,
                               PyObject* tuple) {
  first_head_ = &head;
  context_.fork_from(first.context_);
  write_with_paths(tuple, [&] {
    push_after_first(tuple);
    run();
  });
  const PayloadDefinitions* definitions = context_.definitions_if_any();
  if (definitions != nullptr && !definitions->are_registered()) context_.others();
  if (context_.has_others()) context_.imports().finish();
}

const CachedHead* GraphEncoder::head() const {
  return context_.has_others() ? nullptr : head_ ? head_.get() : first_head_;
}

// Pushes the frame of a tuple, positioned at its second item.
void GraphEncoder::push_after_first(PyObject* tuple) {
  context_.stack.push(Frame::Kind::kTuple, tuple, PyTuple_GET_SIZE(tuple));
  context_.stack.back().position = 1;
}

bool GraphEncoder::write_watched(PyObject* object, WriteFunction write) {
  if (context_.options.skips_blockers) return write_recorded(object, write);
  if (!write_persistent(object)) (this->*write)(object);
  return true;  // The hook has at least frozen the frames.
}

bool GraphEncoder::write_recorded(PyObject* object, WriteFunction write) {
  WalkRecord* record = context_.options.record;
  const std::size_t size = context_.out.size();
  const std::size_t depth = context_.stack.size();
  if (record != nullptr) record->on_begin(context_, object);
  try {
    if (context_.hooks().persistent_id == nullptr || !write_persistent(object)) {
      (this->*write)(object);
    }
    if (record != nullptr) record->on_written(context_, object);
  } catch (const PyError&) {
    skip_blocker(object, size, depth);
  }
  return true;
}

void GraphEncoder::skip_blocker(PyObject* object, std::size_t size, std::size_t depth) {
  const bool is_recoverable = !PyErr_ExceptionMatches(PyExc_MemoryError) &&
                              PyErr_ExceptionMatches(PyExc_Exception);
  if (!is_recoverable || is_stopped() || context_.stack.size() != depth)
    throw PyError();
  const Ref raised = take_error();
  context_.out.truncate(size);
  context_.out.nil();
  if (WalkRecord* record = context_.options.record) {
    record->on_blocked(context_, object, reason_of(context_.state, raised.get()));
  }
}

bool GraphEncoder::write_content(PyObject* object) {
  context_.current = object;
  if (context_.deferred.closes_class(object)) return write_after_methods();
  if (is_long_leaf(object) && can_recur(object) &&
      context_.refer_or_add(key_of(object)))
    return false;
  if (PyBytes_CheckExact(object)) return context_.binary(object), false;
  // For pickle, complex numbers are not leaves: reducers of a Pickler apply to them.
  const bool can_be_reduced =
      PyComplex_CheckExact(object) && (context_.hooks().dispatch_table != nullptr ||
                                       context_.hooks().reducer_override != nullptr);
  if (!can_be_reduced && write_leaf(object, context_.out)) return false;
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyTuple_Type && PyTuple_GET_SIZE(object) == 0) {
    context_.out.node(NodeTag::kTuple, 0);
    return false;
  }
  if (is_container(type)) {
    return !(can_recur(object) && context_.refer_or_add(key_of(object))) &&
           write_container(object);
  }
  if (PyModule_Check(object)) {
    if (context_.is_first_pending()) context_.load_first();
    if (write_module(context_, object)) return true;  // The call may run Python code.
    context_.needs.need_whole(object);
    return write_own_module(object);
  }
  return !context_.refer_or_add(key_of(object)) &&
         (write_instance(object) || write_object(object));
}

bool GraphEncoder::write_container(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyDict_Type) {
    context_.out.map(checked_count(PyDict_GET_SIZE(object)));
    context_.stack.push(Frame::Kind::kDict, object, PyDict_GET_SIZE(object));
    return true;
  }
  if (type == &PyList_Type) {
    context_.out.array(checked_count(PyList_GET_SIZE(object)));
    context_.stack.push(Frame::Kind::kList, object, PyList_GET_SIZE(object));
    return true;
  }
  if (type == &PyTuple_Type) {
    context_.out.node(NodeTag::kTuple, checked_count(PyTuple_GET_SIZE(object)));
    context_.stack.push(Frame::Kind::kTuple, object, PyTuple_GET_SIZE(object));
    return true;
  }
  return write_set(object, type == &PySet_Type ? NodeTag::kSet : NodeTag::kFrozenSet);
}

bool GraphEncoder::write_set(PyObject* object, wire::NodeTag tag) {
  context_.out.node(tag, checked_count(PySet_GET_SIZE(object)));
  if (write_common_elements(object, context_.out)) return false;
  const Ref items = elements_of(object);
  if (write_elements(items.get(), context_.out, nullptr, kElementDepth)) return false;
  // Holds the set for paths of errors, even if its container is freed meanwhile.
  context_.objects.hold(object);
  context_.freeze();
  Ref ordered = sorted_elements(context_.state, context_.infos(), items);
  context_.stack.push(Frame::Kind::kTuple, ordered.get(),
                      PyTuple_GET_SIZE(ordered.get()));
  context_.stack.back().is_set = true;
  context_.stack.back().owner = Ref::share(object);
  return true;
}

// Not inlined: inside its caller, the loops over numbers take a seventh more
// instructions.
[[gnu::noinline]] void GraphEncoder::run(std::size_t depth) {
  while (context_.stack.size() > depth) {
    switch (context_.stack.back().kind) {
      case Frame::Kind::kList:
      case Frame::Kind::kTuple:
        step_sequence();
        break;
      case Frame::Kind::kDict:
        step_dict();
        break;
      case Frame::Kind::kFrozenDict:
        step_frozen_dict();
        break;
      case Frame::Kind::kPlan:
        step_plan();
        break;
    }
  }
}

void GraphEncoder::step_sequence() {
  // From this number on, the call of write_numbers() pays off.
  constexpr Py_ssize_t kMinBatch = 8;
  PyObject* sequence = context_.stack.back().object.get();
  const bool is_list = context_.stack.back().kind == Frame::Kind::kList;
  while (context_.stack.back().position < context_.stack.back().count) {
    Frame& frame = context_.stack.back();  // Writing a value may move it.
    demand_length(frame);
    PyObject* const* items = is_list
                                 ? reinterpret_cast<PyListObject*>(sequence)->ob_item
                                 : reinterpret_cast<PyTupleObject*>(sequence)->ob_item;
    PyObject* item = items[frame.position];
    const Py_ssize_t left = frame.count - frame.position;
    if (left >= kMinBatch && is_number(item) && is_number(items[frame.position + 1]) &&
        context_.hooks().persistent_id == nullptr) {
      const Py_ssize_t count =
          write_numbers(items + frame.position, left, context_.out);
      frame.position += count;
      if (count != 0) continue;
    }
    ++frame.position;
    if (!write_inline(item) && !refer_if_written(item) && write_value(item)) return;
  }
  pop();
}

void GraphEncoder::step_dict() {
  for (;;) {
    if (context_.stack.back().pending) {
      const Ref pending = std::move(context_.stack.back().pending);
      if (write_value(pending.get())) return;
    }
    Frame& frame = context_.stack.back();
    demand_length(frame);
    PyObject *key, *item;
    if (!PyDict_Next(frame.object.get(), &frame.position, &key, &item)) break;
    frame.key = Ref::share(key);
    if (write_inline(key)) {
      // No code has run that could free the value.
      if (!write_inline(item) && write_value(item)) return;
    } else {
      frame.pending = Ref::share(item);
      if (write_value(key)) return;
    }
  }
  end_dict();
}

// The state of an instance ends its node: there are no items and pairs.
void GraphEncoder::end_dict() {
  if (context_.stack.back().is_state) {
    context_.out.array(0);
    context_.out.map(0);
  }
  pop();
}

void GraphEncoder::step_frozen_dict() {
  if (context_.stack.back().pending) {
    const Ref pending = std::move(context_.stack.back().pending);
    if (write_value(pending.get())) return;
  }
  while (context_.stack.back().position <
         PyTuple_GET_SIZE(context_.stack.back().frozen.get())) {
    Frame& frame = context_.stack.back();
    PyObject* item = PyTuple_GET_ITEM(frame.frozen.get(), frame.position);
    const bool is_key = frame.position++ % 2 == 0;
    if (is_key) frame.key = Ref::share(item);
    if (write_value(item)) return;
  }
  end_dict();
}

void GraphEncoder::step_plan() {
  Plan& plan = *context_.stack.back().plan;
  for (;;) {
    Frame& frame = context_.stack.back();
    Plan::Step& step = plan.steps()[static_cast<std::size_t>(frame.position)];
    if (step.creates_object) {
      MemoEntry* entry = context_.objects.find(key_of(frame.object.get()));
      if (entry != nullptr && entry->is_created) {
        context_.out.append(plan.raw_between(frame.raw_begin, plan.created_at()));
        close_early(frame, *entry);
        break;
      }
      if (entry != nullptr) entry->is_created = true;
    }
    context_.out.append(plan.raw_between(frame.raw_begin, step.raw_end));
    frame.raw_begin = step.raw_end;
    if (!step.child) break;
    ++frame.position;
    PyObject* child = step.child.get();
    if (step.is_global) begin_global(frame, step.label.name.get());
    bool has_changed = false;  // The stack.
    if (plan.is_child_id()) {
      has_changed = write_content(child);
    } else if (!step.is_part) {
      has_changed = write_value(child);
    } else {
      context_.current = child;
      has_changed = is_watched_ ? write_watched(child, &GraphEncoder::write_own_module)
                                : write_own_module(child);
    }
    if (has_changed) return;
  }
  pop();
}

void GraphEncoder::close_early(const Frame& frame, MemoEntry& entry) {
  wire::Writer& out = context_.out;
  const Plan::EarlyClose how = frame.plan->early();
  if (how == Plan::EarlyClose::kClass || how == Plan::EarlyClose::kClassWithHomeState) {
    out.map(0);  // A reader finds the class by its id.
    if (how == Plan::EarlyClose::kClassWithHomeState) out.boolean(false);
    return;
  }
  out.node(NodeTag::kReplacement, 1);
  context_.objects.refer_to(entry, out);
  out.array(0);
  out.map(0);
  if (how == Plan::EarlyClose::kReducedWithSetter) out.nil();
}

void GraphEncoder::begin_global(const Frame& frame, PyObject* name) {
  PyObject* owner = frame.object.get();
  PyObject* globals =
      PyModule_Check(owner) ? PyModule_GetDict(owner) : PyFunction_GET_GLOBALS(owner);
  context_.dicts.names_of(globals).add(name);
}

}  // namespace waybill::py
