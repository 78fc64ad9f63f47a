// Tested by tests/python/api/test_object_paths.py.

#include "python/encode/paths/label.h"

#include "python/encode/paths/attribute_step.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace steps = envelope::steps;

bool is_attribute_name(PyObject* name) {
  return PyUnicode_IsIdentifier(name) == 1 && !steps::is_keyword(text_of(name));
}

std::string Label::variable() const {
  return is_variable() ? text_of(name.get()) : std::string();
}

std::string Label::spelled() const {
  if (style == Style::kAttribute && is_attribute_name(name.get())) {
    return steps::attribute(text_of(name.get())) + text;
  }
  return steps::spelled(style, text,
                        steps::has_key(style) ? shown_key(name.get()) : std::string(),
                        static_cast<std::uint64_t>(index));
}

bool Label::evaluates() const {
  if (style == Style::kAttribute && is_attribute_name(name.get())) return true;
  if (style == Style::kKey && text[0] == '<') return false;
  return steps::is_expression(style) &&
         (!steps::has_key(style) || is_literal(name.get()));
}

}  // namespace waybill::py
