#pragma once

// How a child hangs on its parent, for the paths of errors and explanations. The
// language of paths is described in docs/paths.md.

#include <Python.h>

#include <string>

#include "format/path_steps.h"
#include "python/runtime/ref.h"

namespace waybill::py {

struct Label {
  using Style = envelope::steps::Style;
  Style style = Style::kNone;
  // Static; what stands before the name or index, or behind that of an attribute.
  const char* text = "";
  Ref name;
  Py_ssize_t index = 0;

  static Label of_text(const char* text) { return {Style::kText, text, {}, 0}; }
  static Label of_attribute(PyObject* name, const char* behind = "") {
    return {Style::kAttribute, behind, Ref::share(name), 0};
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
  static Label of_place(const char* text, Py_ssize_t index) {
    return {Style::kPlace, text, {}, index};
  }
  static Label of_named(const char* text, PyObject* name) {
    return {Style::kNamed, text, Ref::share(name), 0};
  }

  // Whether it leads from a function to what one of its variables holds; `name` is the
  // variable's then.
  bool is_variable() const { return style == Style::kGlobal || style == Style::kCell; }
  // Its name, then; else empty.
  std::string variable() const;
  // The step as paths spell it.
  std::string spelled() const;
  // Whether Python evaluates that to the child.
  bool evaluates() const;
};

}  // namespace waybill::py
