// Tested by tests/python/api/test_object_paths.py.

#include "python/encode/paths/label.h"

#include "python/runtime/text.h"

namespace waybill::py {

namespace {

std::string in_brackets(const std::string& text) { return "[" + text + "]"; }

// ".name", or how Python gets at what cannot be spelled that way.
std::string attribute_step(PyObject* name) {
  if (PyUnicode_IsIdentifier(name) == 1) return "." + text_of(name);
  return ".__dict__" + in_brackets(shown_key(name));
}

}  // namespace

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
      return attribute_step(name.get());
    case Style::kKey:
      return text + in_brackets(shown_key(name.get()));
    case Style::kIndex:
      return text + in_brackets(std::to_string(index));
    case Style::kGlobal:
      return ".__globals__" + in_brackets(shown_key(name.get()));
    case Style::kCell:
      return ".__closure__" + in_brackets(std::to_string(index)) + ".cell_contents";
    case Style::kMarker:
      return "<" + std::string(text) + ">";
    case Style::kPlace:
      return "<" + std::string(text) + " " + std::to_string(index) + ">";
    case Style::kNamed:
      return "<" + std::string(text) + " " + shown_key(name.get()) + ">";
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
    default:
      return true;
  }
}

}  // namespace waybill::py
