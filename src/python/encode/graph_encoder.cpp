// The walk over an object graph: what is written at once, and what is put on the stack.
// What was written before: encoder_references.cpp.
//
// Tested by tests/python/kinds/test_values.py, test_sharing.py, test_determinism.py.

#include "python/encode/graph_encoder.h"

#include "python/discovery/code_view.h"
#include "python/encode/codec.h"
#include "python/encode/plain_writer.h"
#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"

namespace waybill::py {

namespace {

using wire::NodeTag;

// So many objects may be made by reducers out of each other, none held by anything but
// the walk; data that is really there is held, and has no such limit.
constexpr std::uint32_t kMaxMadeUp = 10'000;

// The types whose instances cannot be met again unless something refers to them twice;
// a reducer of any other type may hand out its object once more.
bool is_container(PyTypeObject* type) {
  return type == &PyDict_Type || type == &PyList_Type || type == &PyTuple_Type ||
         type == &PySet_Type || type == &PyFrozenSet_Type;
}

}  // namespace

GraphEncoder::GraphEncoder(State& state, const EncodeOptions& options)
    : state_(state), options_(options) {
  const bool keeps = state.uses_caches && options.hooks.leave_graph_alone() &&
                     !options.root_by_value && !options.passes_over &&
                     !options.names_no_ids && !options.only_names_classes;
  if (keeps) kept_.phase = KeptUse::Phase::kOpen;
}

template <typename Work>
void GraphEncoder::walk(PyObject* root, Work work) {
  root_ = root;
  try {
    work();
  } catch (const PyError&) {
    describe_failure();
    throw;
  }
}

void GraphEncoder::encode(PyObject* root) {
  walk(root, [&] {
    value(root);
    run();
    end_kept_chain();
    if (options_.hooks.memo != nullptr) remember();
  });
  if (others_) others_->imports.finish();
}

void GraphEncoder::encode_first(PyObject* tuple) {
  kept_.phase = KeptUse::Phase::kClosed;
  out_.node(NodeTag::kTuple, countable(PyTuple_GET_SIZE(tuple)));
  walk(tuple, [&] {
    push_behind_first(tuple);
    value(PyTuple_GET_ITEM(tuple, 0));
    run(1);
  });
  pop();
  large_.settle(out_);
  // Of no use to what comes after, and it might be in a cycle.
  deferred_.clear();
  extensions_.clear();
  stack_.drop_spare_plans();
  unreduced_type_ = Ref();
}

void GraphEncoder::encode_rest(const GraphEncoder& first, const KeptSections& sections,
                               PyObject* tuple) {
  kept_.phase = KeptUse::Phase::kBegun;
  first_ = &first;
  first_sections_ = &sections;
  memo_.lay_on(first.memo_);
  shared_ = first.shared_;
  out_.append_in_place(first.payload(), first.insertions());
  walk(tuple, [&] {
    push_behind_first(tuple);
    run();
  });
  if (others_) others_->imports.finish();
}

// The frame of a tuple whose first item has been written, or is.
void GraphEncoder::push_behind_first(PyObject* tuple) {
  stack_.push(Frame::Kind::kTuple, tuple, PyTuple_GET_SIZE(tuple));
  stack_.back().position = 1;
}

int GraphEncoder::traverse(visitproc visitor, void* arg) const {
  for (const Ref& kept : keep_) {
    if (const int stop = visit(kept, visitor, arg)) return stop;
  }
  for (const auto& [address, own] : own_modules_) {
    if (const int stop = visit(own.module, visitor, arg)) return stop;
  }
  return 0;
}

void GraphEncoder::binary(PyObject* bytes) {
  const BytesView view = bytes_of(bytes);
  if (view.size() > wire::kMaxCount) fail("is longer than 4 GiB");
  if (view.size() >= LargeBinaries::kLeast) {
    large_.write(bytes, out_);
  } else {
    out_.binary(view);
  }
}

void GraphEncoder::binary(std::unique_ptr<BufferView> view, bool is_lent) {
  const BytesView bytes = view->bytes();
  if (bytes.size() > wire::kMaxCount) fail("is longer than 4 GiB");
  if (bytes.size() >= LargeBinaries::kLeast) {
    large_.write(std::move(view), is_lent, out_);
  } else {
    out_.binary(bytes);
  }
}

bool GraphEncoder::value(PyObject* object) {
  current_ = object;
  if (options_.hooks.persistent_id == nullptr) return content(object);
  if (!persistent(object)) content(object);
  return true;  // Frozen, at least.
}

bool GraphEncoder::content(PyObject* object) {
  current_ = object;
  if (!deferred_.empty() && PyFunction_Check(object)) {
    Deferred* deferred = deferred_of(object);
    if (deferred != nullptr && !deferred->is_written) return write_deferred();
  }
  if (is_long_leaf(object) && may_be_met_again(object) && known(key_of(object)))
    return false;
  if (PyBytes_CheckExact(object)) return binary(object), false;
  // Reducers of a Pickler's own come before what is a leaf to us, but not to pickle.
  const bool may_be_reduced =
      PyComplex_CheckExact(object) && (options_.hooks.dispatch_table != nullptr ||
                                       options_.hooks.reducer_override != nullptr);
  if (!may_be_reduced && write_leaf(object, out_)) return false;
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyTuple_Type && PyTuple_GET_SIZE(object) == 0) {
    out_.node(NodeTag::kTuple, 0);
    return false;
  }
  if (is_container(type)) {
    return !(may_be_met_again(object) && known(key_of(object))) && container(object);
  }
  if (PyModule_Check(object)) {
    if (module(object)) return false;
    own_module_entry(object).is_whole = true;
    return own_module(object);
  }
  return !known(key_of(object)) && (instance(object) || other(object));
}

bool GraphEncoder::container(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyDict_Type) {
    out_.map(countable(PyDict_GET_SIZE(object)));
    stack_.push(Frame::Kind::kDict, object, PyDict_GET_SIZE(object));
    return true;
  }
  if (type == &PyList_Type) {
    out_.array(countable(PyList_GET_SIZE(object)));
    stack_.push(Frame::Kind::kList, object, PyList_GET_SIZE(object));
    return true;
  }
  if (type == &PyTuple_Type) {
    out_.node(NodeTag::kTuple, countable(PyTuple_GET_SIZE(object)));
    stack_.push(Frame::Kind::kTuple, object, PyTuple_GET_SIZE(object));
    return true;
  }
  return set(object, type == &PySet_Type ? NodeTag::kSet : NodeTag::kFrozenSet);
}

bool GraphEncoder::other(PyObject* object) {
  freeze();
  if (kept_.phase != KeptUse::Phase::kClosed && meet_kept(object)) return true;
  if (options_.hooks.reducer_override != nullptr && overridden(object)) return true;
  if (write_stand_in(object)) return true;
  const bool by_value = options_.root_by_value && object == root_;
  if (options_.hooks.by_value == nullptr && !by_value && builtin_type(object)) {
    return true;
  }
  GlobalName name;
  if (PyFunction_Check(object) && !by_value) name = find_function(state_, object);
  if (PyType_Check(object) && !is_reduced_by_metaclass(*this, object)) {
    name = find_type(state_, reinterpret_cast<PyTypeObject*>(object));
    // A class may say that it lives elsewhere, as those of _pydatetime do.
    if (!name.module) name = class_beside_function(object);
  }
  if (name.module && !is_by_value(name.module.get())) return global(name), true;
  planned(object, nullptr);
  end_kept_node();
  return true;
}

void GraphEncoder::freeze() {
  plain_type_ = nullptr;
  large_.settle(out_);
  if (PyObject* changed = stack_.freeze()) fail_of_length(changed);
}

// Its head says how long it is. Only a finalizer can have changed it: containers are
// frozen before any other code runs.
void GraphEncoder::fail_of_length(PyObject* container) {
  current_ = container;
  fail("changed its length while it was written");
}

bool GraphEncoder::planned(PyObject* object, PyObject* answer) {
  std::unique_ptr<Plan> plan = stack_.new_plan();
  const std::size_t start = out_.size();
  try {
    if (answer != nullptr) {
      describe_answer(*this, object, answer, *plan);
    } else {
      codec_for(*this, object)(*this, object, *plan);
    }
  } catch (const PyError&) {
    if (out_.size() != start) throw;
    if (write_as_global(object)) return true;
    if (!options_.passes_over) throw;
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) throw;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) throw;
    PyErr_Clear();
    out_.nil();
    return true;
  }
  if (plan->has_no_child()) {
    out_.append(plan->raw().view());
    stack_.give_back(std::move(plan));
    return true;
  }
  plan->finish();
  if (plan->creates_late()) {
    if (MemoEntry* entry = memo_.find(key_of(object))) entry->is_created = false;
  }
  push_plan(object, std::move(plan));
  return true;
}

void GraphEncoder::push_plan(PyObject* object, std::unique_ptr<Plan> plan) {
  stack_.push_plan(object, std::move(plan));
  if (stack_.back().synthesized > kMaxMadeUp) {
    fail("is made by reducers out of each other without end");
  }
}

// A function of its own: within its only caller, the loops over numbers take a seventh
// more instructions.
[[gnu::noinline]] void GraphEncoder::run(std::size_t depth) {
  while (stack_.size() > depth) {
    switch (stack_.back().kind) {
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
  // From so many on a call of its own is worth it.
  constexpr Py_ssize_t kManyNumbers = 8;
  PyObject* sequence = stack_.back().object.get();
  const bool is_list = stack_.back().kind == Frame::Kind::kList;
  while (stack_.back().position < stack_.back().count) {
    Frame& frame = stack_.back();  // Writing a value may move it.
    demand_length(frame);
    PyObject* const* items = is_list
                                 ? reinterpret_cast<PyListObject*>(sequence)->ob_item
                                 : reinterpret_cast<PyTupleObject*>(sequence)->ob_item;
    PyObject* item = items[frame.position];
    const Py_ssize_t left = frame.count - frame.position;
    if (left >= kManyNumbers && is_number(item) &&
        is_number(items[frame.position + 1]) &&
        options_.hooks.persistent_id == nullptr) {
      const Py_ssize_t count = write_numbers(items + frame.position, left, out_);
      frame.position += count;
      if (count != 0) continue;
    }
    ++frame.position;
    if (!common(item) && !met(item) && value(item)) return;
  }
  pop();
}

void GraphEncoder::step_dict() {
  for (;;) {
    if (stack_.back().pending) {
      const Ref pending = std::move(stack_.back().pending);
      if (value(pending.get())) return;
    }
    Frame& frame = stack_.back();
    demand_length(frame);
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    if (!PyDict_Next(frame.object.get(), &frame.position, &key, &item)) break;
    frame.key = Ref::share(key);
    if (common(key)) {
      // Nothing has run that could take the value away.
      if (!common(item) && value(item)) return;
    } else {
      frame.pending = Ref::share(item);
      if (value(key)) return;
    }
  }
  end_dict();
}

// An instance has no items and pairs besides.
void GraphEncoder::end_dict() {
  if (stack_.back().is_state) {
    out_.array(0);
    out_.map(0);
  }
  pop();
}

void GraphEncoder::step_frozen_dict() {
  if (stack_.back().pending) {
    const Ref pending = std::move(stack_.back().pending);
    if (value(pending.get())) return;
  }
  while (stack_.back().position < PyTuple_GET_SIZE(stack_.back().frozen.get())) {
    Frame& frame = stack_.back();
    PyObject* item = PyTuple_GET_ITEM(frame.frozen.get(), frame.position);
    const bool is_key = frame.position++ % 2 == 0;
    if (is_key) frame.key = Ref::share(item);
    if (value(item)) return;
  }
  end_dict();
}

void GraphEncoder::step_plan() {
  Plan& plan = *stack_.back().plan;
  for (;;) {
    Frame& frame = stack_.back();
    Plan::Step& step = plan.steps()[static_cast<std::size_t>(frame.position)];
    if (step.creates) {
      MemoEntry* entry = memo_.find(key_of(frame.object.get()));
      if (entry != nullptr && entry->is_created) {
        out_.append(plan.raw_between(frame.raw_begin, plan.created_at()));
        close_early(frame, *entry);
        break;
      }
      if (entry != nullptr) entry->is_created = true;
    }
    out_.append(plan.raw_between(frame.raw_begin, step.raw_end));
    frame.raw_begin = step.raw_end;
    if (!step.child) break;
    ++frame.position;
    PyObject* child = step.child.get();
    if (step.is_global) begin_global(frame, step.label.name.get());
    const bool is_other = plan.is_child_id() ? content(child)
                          : step.is_part     ? part_of_module(child)
                                             : value(child);
    if (is_other) return;
  }
  pop();
  end_kept_node();
}

}  // namespace waybill::py
