#pragma once

// The label of the edge from a parent to a child, for paths in errors and explanations.
// docs/paths.md describes the syntax of paths.

#include <Python.h>

#include <string>

#include "format/path_steps.h"
#include "python/runtime/ref.h"

namespace waybill::py {

struct Label {
  using Style = envelope::steps::Style;
  Style style = Style::kNone;
  // Static text before the name or index; for an attribute, after its name.
  const char* text = "";
  Ref name;
  Py_ssize_t index = 0;

  static Label of_text(const char* text) { return {Style::kText, text, {}, 0}; }
  static Label of_attribute(PyObject* name, const char* suffix = "") {
    return {Style::kAttribute, suffix, Ref::share(name), 0};
  }
  static Label of_key(const char* text, PyObject* name) {
    return {Style::kKey, text, Ref::share(name), 0};
  }
  static Label of_index(const char* text, Py_ssize_t index) {
    return {Style::kIndex, text, {}, index};
  }
  static Label of_global(PyObject* name) {
    return {Style::kGlobal, "", Ref::share(name), 0};
  }
  static Label of_cell(PyObject* name, Py_ssize_t index) {
    return {Style::kCell, "", Ref::share(name), index};
  }
  static Label of_marker(const char* text) { return {Style::kMarker, text, {}, 0}; }
  static Label of_numbered(const char* text, Py_ssize_t index) {
    return {Style::kNumbered, text, {}, index};
  }
  static Label of_named(const char* text, PyObject* name) {
    return {Style::kNamed, text, Ref::share(name), 0};
  }

  // Whether the label leads from a function to the value of its variable `name`.
  bool is_variable() const { return style == Style::kGlobal || style == Style::kCell; }
  // The name of the variable if is_variable(), else empty.
  std::string variable() const;
  // The step as text of a path.
  std::string spelled() const;
  // Whether spelled(), as Python code, evaluates to the child.
  bool evaluates() const;
};

}  // namespace waybill::py
