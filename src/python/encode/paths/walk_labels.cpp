// How what is being written hangs on the frames of the walk.
// Tested by tests/python/api/test_object_paths.py.

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

// Whether `owner.name` is `value`, told without code of anybody's.
bool has_attribute(PyObject* owner, PyObject* name, PyObject* value) {
  PyObject* of_type = _PyType_Lookup(Py_TYPE(owner), name);
  if (of_type != nullptr && Py_IS_TYPE(of_type, &PyMemberDescr_Type)) return true;
  const Ref dict = instance_dict(owner);
  return dict && PyDict_CheckExact(dict.get()) && raw_get(dict.get(), name) == value;
}

// Of an item of the state of `owner`. A class gives what stands in its dict as it is,
// but for what makes something else of itself when it is asked for.
Label label_in_state(PyObject* owner, PyObject* dict, PyObject* name) {
  PyObject* value = raw_get(dict, name);
  if (PyType_Check(owner)) {
    const bool is_as_it_is = value == nullptr || PyFunction_Check(value) ||
                             Py_TYPE(value)->tp_descr_get == nullptr;
    return is_as_it_is ? Label::of_attribute(name) : Label::of_key(".__dict__", name);
  }
  if (PyFunction_Check(owner) || PyModule_Check(owner) ||
      has_attribute(owner, name, value)) {
    return Label::of_attribute(name);
  }
  return Label::of_key("<state>", name);
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
    if (frame.is_state) return Label::of_attribute(key);
    const Label* around = index == 0 ? nullptr : label_in_plan(frames_[index - 1]);
    if (around == nullptr || around->style != Label::Style::kNone) {
      return Label::of_key("", key);
    }
    return label_in_state(frames_[index - 1].object.get(), frame.object.get(), key);
  }
  if (frame.position == 0) return {};
  return frame.is_set ? Label::of_place("element", frame.position - 1)
                      : Label::of_index("", frame.position - 1);
}

}  // namespace waybill::py
