// Tested by tests/python/api/test_object_paths.py.

#include "python/encode/paths/label.h"

#include "format/path_steps.h"
#include "python/encode/paths/attribute_step.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

namespace steps = envelope::steps;

// ".name", or how Python gets at what cannot be spelled that way.
std::string attribute_step(PyObject* name) {
  if (is_attribute_name(name)) return steps::attribute(text_of(name));
  return steps::in_dict(shown_key(name));
}

}  // namespace

bool is_attribute_name(PyObject* name) {
  return PyUnicode_IsIdentifier(name) == 1 && !steps::is_keyword(text_of(name));
}

std::string Label::variable() const {
  return is_variable() ? text_of(name.get()) : std::string();
}

std::string Label::spelled() const {
  switch (style) {
    case Style::kNone:
      return {};
    case Style::kText:
      return text;
    case Style::kAttribute:
      return attribute_step(name.get()) + text;
    case Style::kKey:
      return steps::item(text, shown_key(name.get()));
    case Style::kIndex:
      return steps::item(text, std::to_string(index));
    case Style::kGlobal:
      return steps::global(shown_key(name.get()));
    case Style::kCell:
      return steps::cell(static_cast<std::uint64_t>(index));
    case Style::kMarker:
      return steps::marker(text);
    case Style::kPlace:
      return steps::marker(text, std::to_string(index));
    case Style::kNamed:
      return steps::marker(text, shown_key(name.get()));
  }
  return {};
}

bool Label::evaluates() const {
  switch (style) {
    case Style::kMarker:
    case Style::kPlace:
    case Style::kNamed:
      return false;
    case Style::kKey:
      return text[0] != '<' && is_literal(name.get());
    case Style::kGlobal:
      return is_literal(name.get());
    case Style::kAttribute:
      return is_attribute_name(name.get()) || is_literal(name.get());
    default:
      return true;
  }
}

}  // namespace waybill::py
