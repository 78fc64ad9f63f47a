// Tested by tests/python/imports/test_order_of_need.py.

#include <string>

#include "format/path_steps.h"
#include "format/shapes.h"
#include "python/decode/graph_decoder.h"
#include "python/runtime/attribute.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxFrames = 256;  // Inner frames shown; nodes do not count.

namespace steps = envelope::steps;

std::string attribute_step(PyObject* name) {
  const bool is_name = PyUnicode_Check(name) && PyUnicode_IsIdentifier(name) == 1;
  return is_name ? steps::attribute(text_of(name)) : steps::in_dict(shown_key(name));
}

// The step to the attribute of a function that a field sets.
std::string attribute_of_field(PyObject* field) {
  const auto number = static_cast<std::uint64_t>(PyLong_AsLong(field));
  return steps::dunder(envelope::function_field_name(number));
}

// The step to an item by its index. `around`: the enclosing frame, or null.
std::string item_step(const Frame& frame, const Frame* around) {
  const std::string place = std::to_string(frame.position);
  if (frame.kind == FrameKind::kSet || frame.kind == FrameKind::kFrozenSet) {
    return steps::marker("element", place);
  }
  if (around == nullptr || around->kind != FrameKind::kNode) {
    return steps::item("", place);
  }
  const std::string_view part = envelope::part_name(
      static_cast<std::uint8_t>(around->node->codec->tag), around->position);
  if (part == "args") return steps::marker("argument", place);
  return steps::item(part == "bases" ? steps::dunder(part) : "", place);
}

// The path from the root of the payload to the innermost frame.
std::string path_of(std::span<const Frame> stack) {
  std::string path = "obj";
  std::size_t first = stack.size();
  for (std::size_t shown = 0; first != 0; --first) {
    shown += stack[first - 1].kind != FrameKind::kNode;
    if (shown > kMaxFrames) break;
  }
  if (first != 0) path += " … ";
  for (std::size_t i = first; i < stack.size(); ++i) {
    const Frame& frame = stack[i];
    const bool is_state = i > 0 && stack[i - 1].is_reduced();
    switch (frame.kind) {
      case FrameKind::kFields:
        if (frame.key) path += attribute_of_field(frame.key.get());
        break;
      case FrameKind::kAttributes:
      case FrameKind::kInstance:
        if (frame.key) path += attribute_step(frame.key.get());
        break;
      case FrameKind::kDict:
        if (!frame.key) break;
        path += is_state ? attribute_step(frame.key.get())
                         : steps::item("", shown_key(frame.key.get()));
        break;
      case FrameKind::kNode:
        break;  // The frames inside add the step.
      default:
        path += item_step(frame, i > 0 ? &stack[i - 1] : nullptr);
    }
  }
  return path;
}

}  // namespace

void describe_failure(const State& state, std::span<const Frame> stack) {
  // A MemoryError has no cause in the object: it can be raised anywhere.
  if (PyErr_ExceptionMatches(PyExc_MemoryError) ||
      !PyErr_ExceptionMatches(PyExc_Exception) || stack.empty()) {
    return;
  }
  const Ref raised = take_error();
  // Waybill's own errors name the place.
  if (is_instance_of(state, raised.get(), &LazyHelpers::error)) {
    restore_error(raised);
    return;
  }
  const std::string message =
      "waybill: raised while " + path_of(stack) + " was being built";
  if (!Ref::steal_or_null(
          PyObject_CallMethod(raised.get(), "add_note", "s", message.c_str()))) {
    PyErr_Clear();
  }
  PyErr_SetObject(type_of(raised.get()), raised.get());
}

}  // namespace waybill::py
