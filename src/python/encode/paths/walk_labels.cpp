// How what is being written hangs on the frames of the walk.
// Tested by tests/python/api/test_object_paths.py.

#include "python/encode/paths/attribute_step.h"
#include "python/encode/walk_stack.h"
#include "python/runtime/attribute.h"

namespace waybill::py {

namespace {

using Frame = WalkStack::Frame;

// The label of the child that a plan is at; null before the first and behind the last.
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
    if (frame.is_state) return label_in_state(frame.shown(), key, value);
    const Label* around = index == 0 ? nullptr : label_in_plan(frames_[index - 1]);
    if (around == nullptr || around->style != Label::Style::kNone) {
      return Label::of_key("", key);
    }
    return label_in_state(frames_[index - 1].object.get(), key, value);
  }
  if (frame.position == 0) return {};
  return frame.is_set ? Label::of_place("element", frame.position - 1)
                      : Label::of_index("", frame.position - 1);
}

}  // namespace waybill::py
