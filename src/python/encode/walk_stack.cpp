// Tested by tests/python/kinds/test_values.py,
// tests/python/imports/test_order_of_need.py, tests/python/api/test_object_paths.py.

#include "python/encode/walk_stack.h"

#include <algorithm>
#include <utility>

#include "python/encode/paths/path_step.h"
#include "python/runtime/compat.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

using Frame = WalkStack::Frame;

// The label of the current child of a plan; null before the first and after the last
// one.
const Label* label_in_plan(const Frame& frame) {
  if (frame.kind != Frame::Kind::kPlan) return nullptr;
  const auto& steps = frame.plan->steps();
  const auto position = static_cast<std::size_t>(frame.position);
  return position == 0 || position > steps.size() ? nullptr
                                                  : &steps[position - 1].label;
}

bool is_at_key(const Frame& frame) {
  return frame.pending ||
         (frame.kind == Frame::Kind::kFrozenDict && frame.position % 2 == 1);
}

}  // namespace

void WalkStack::push_plan(PyObject* object, std::unique_ptr<Plan> plan) {
  // The two references are those of the plan below and of the memo.
  const bool is_synthesized =
      !empty() && back().kind == Frame::Kind::kPlan && Py_REFCNT(object) <= 2;
  const std::uint32_t synthesized = is_synthesized ? back().synthesized + 1 : 0;
  if (PyType_Check(object)) open_classes_.push_back(size());
  push(Frame::Kind::kPlan, object, 0);
  back().plan = std::move(plan);
  back().synthesized = synthesized;
}

std::unique_ptr<Plan> WalkStack::new_plan() {
  if (spare_plans_.empty()) return std::make_unique<Plan>();
  std::unique_ptr<Plan> plan = std::move(spare_plans_.back());
  spare_plans_.pop_back();
  return plan;
}

void WalkStack::give_back(std::unique_ptr<Plan> plan) {
  plan->clear();
  spare_plans_.push_back(std::move(plan));
}

PyObject* WalkStack::freeze() {
  for (; frozen_count_ < size(); ++frozen_count_) {
    Frame& frame = frames_[frozen_count_];
    if (frame.has_changed()) return frame.object.get();
    if (frame.kind == Frame::Kind::kList) {
      const CollectorPause pause;  // Finalizers must not change the list meanwhile.
      Ref items = Ref::steal(PyList_AsTuple(frame.object.get()));
      frame.owner = std::exchange(frame.object, std::move(items));
      frame.kind = Frame::Kind::kTuple;
    } else if (frame.kind == Frame::Kind::kDict) {
      const CollectorPause pause;
      Ref items = Ref::steal(PyList_New(0));
      PyObject *key, *item;
      while (PyDict_Next(frame.object.get(), &frame.position, &key, &item)) {
        check(PyList_Append(items.get(), key));
        check(PyList_Append(items.get(), item));
      }
      frame.frozen = Ref::steal(PyList_AsTuple(items.get()));
      frame.position = 0;
      frame.kind = Frame::Kind::kFrozenDict;
    }
  }
  return nullptr;
}

PyObject* WalkStack::innermost_class() const {
  return open_classes_.empty() ? nullptr : frames_[open_classes_.back()].object.get();
}

PyObject* WalkStack::innermost_function() const {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (PyFunction_Check(frame->object.get())) return frame->object.get();
  }
  return nullptr;
}

bool WalkStack::is_within_code() const {
  return std::ranges::any_of(frames_, [](const Frame& frame) {
    PyObject* object = frame.object.get();
    return PyFunction_Check(object) || PyType_Check(object) || PyModule_Check(object);
  });
}

bool WalkStack::is_within_method_of(const State& state, PyTypeObject* type) const {
  for (const std::size_t class_frame : open_classes_) {
    auto* open = as_type(frames_[class_frame].object.get());
    if (class_frame + 1 >= size() || !PyType_IsSubtype(type, open)) continue;
    const Frame& attributes = frames_[class_frame + 1];
    if (!attributes.key) continue;
    // The value of __module__ brings the globals of all methods; see DeferredGlobals.
    if (PyUnicode_Check(attributes.key.get()) &&
        PyUnicode_Compare(attributes.key.get(), state.names.module.get()) == 0) {
      return true;
    }
    PyObject* value = raw_get(open, attributes.key.get());
    if (value != nullptr && is_method(value)) return true;
  }
  return false;
}

bool WalkStack::is_within_class(PyTypeObject* type) const {
  return std::ranges::any_of(open_classes_, [&](std::size_t class_frame) {
    auto* open = as_type(frames_[class_frame].object.get());
    return PyType_IsSubtype(type, open) && class_frame + 1 < size() &&
           frames_[class_frame + 1].key;
  });
}

bool WalkStack::is_at_state(std::size_t index) const {
  const Label* label = label_in_plan(frames_[index]);
  return label != nullptr && label->style == Label::Style::kNone;
}

Label WalkStack::label_at(std::size_t index) const {
  const Frame& frame = frames_[index];
  if (frame.kind == Frame::Kind::kPlan) {
    const Label* label = label_in_plan(frame);
    return label == nullptr ? Label{} : *label;
  }
  if (frame.kind == Frame::Kind::kDict || frame.kind == Frame::Kind::kFrozenDict) {
    if (!frame.key) return {};
    PyObject* key = frame.key.get();
    if (is_at_key(frame)) return Label::of_marker("key");
    if (!PyUnicode_CheckExact(key)) return Label::of_key("", key);
    PyObject* value = raw_get(frame.object.get(), key);
    if (frame.is_state) return label_in_state(frame.owner_in_paths(), key, value);
    const Label* around = index == 0 ? nullptr : label_in_plan(frames_[index - 1]);
    if (around == nullptr || around->style != Label::Style::kNone) {
      return Label::of_key("", key);
    }
    return label_in_state(frames_[index - 1].object.get(), key, value);
  }
  if (frame.position == 0) return {};
  return frame.is_set ? Label::of_numbered("element", frame.position - 1)
                      : Label::of_index("", frame.position - 1);
}

}  // namespace waybill::py
