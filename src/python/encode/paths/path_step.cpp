// Tested by tests/python/api/test_object_paths.py and
// tests/python/explain/test_evaluated_paths.py.

#include "python/encode/paths/path_step.h"

#include <cstring>
#include <utility>

#include "python/encode/paths/attribute_step.h"

namespace waybill::py {

namespace {

bool is_argument(const Label& label) {
  return label.style == Label::Style::kPlace &&
         std::strcmp(label.text, "argument") == 0;
}

bool is_state(const Label& label) {
  return label.style == Label::Style::kMarker && std::strcmp(label.text, "state") == 0;
}

// Whether it leads to a tuple or list of what the state consists of.
bool is_row_of_state(const WalkStep& step) {
  return is_state(*step.label) && step.object != nullptr &&
         (PyTuple_CheckExact(step.object) || PyList_CheckExact(step.object));
}

bool is_item(const Label& label) {
  return label.text[0] == '\0' &&
         (label.style == Label::Style::kIndex || label.style == Label::Style::kKey);
}

// Named tuples are made of their items.
bool is_item_of_tuple(const WalkStep& step) {
  const Py_ssize_t index = step.label->index;
  return PyTuple_Check(step.owner) && index < PyTuple_GET_SIZE(step.owner) &&
         PyTuple_GET_ITEM(step.owner, index) == step.object;
}

}  // namespace

PathStep path_step(const WalkStep* around, const WalkStep& step) {
  const Label& label = *step.label;
  if (step.object == nullptr) return {step.owner, label};
  if (is_argument(label) && is_item_of_tuple(step)) {
    return {nullptr, Label::of_index("", label.index)};
  }
  if (is_argument(label) || is_state(label)) {
    if (const Ref name = attribute_that_is(step.owner, step.object)) {
      return {nullptr, Label::of_attribute(name.get())};
    }
  }
  if (label.style == Label::Style::kIndex && around != nullptr &&
      is_row_of_state(*around) && !attribute_that_is(around->owner, around->object)) {
    const Ref name = attribute_that_is(around->owner, step.object);
    if (name) return {nullptr, Label::of_attribute(name.get()), true};
  }
  if (!is_item(label) || gives_item(step.owner, label, step.object)) {
    return {step.owner, label};
  }
  return {nullptr, label.style == Label::Style::kKey
                       ? Label::of_named("item", label.name.get())
                       : Label::of_place("item", label.index)};
}

}  // namespace waybill::py
