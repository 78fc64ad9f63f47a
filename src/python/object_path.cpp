// The path from the root to the object that is being written, for errors:
// f.__globals__['client'].session._lock. Built only when something failed.
// Tested by tests/python/test_errors.py.

#include <string>

#include "python/attribute.h"
#include "python/graph_encoder.h"
#include "python/leaves.h"
#include "python/text.h"
#include "wire/utf8.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxKey = 100;  // Bytes of a key that are shown.

// repr() of a dict key; keys of types whose repr is code of the user's are not asked.
std::string repr_of(PyObject* key) {
  if (PyTuple_CheckExact(key) && PyTuple_GET_SIZE(key) <= 8) {
    std::string text = "(";
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) {
      PyObject* item = PyTuple_GET_ITEM(key, i);
      if (i > 0) text += ", ";
      text += PyTuple_CheckExact(item) ? "(…)" : repr_of(item);
    }
    return text + (PyTuple_GET_SIZE(key) == 1 ? ",)" : ")");
  }
  if (!is_simple(key)) return "<" + std::string(Py_TYPE(key)->tp_name) + ">";
  Ref repr = Ref::steal(PyObject_Repr(key));
  std::string text = text_of(repr.get());
  if (text.size() <= kMaxKey) return text;
  return text.substr(0, wire::size_of_start(text, kMaxKey)) + "…";
}

std::string render(const Label& label) {
  std::string text = label.text;
  switch (label.style) {
    case Label::Style::kNone:
    case Label::Style::kText:
      return text;
    case Label::Style::kAttribute:
      return "." + text_of(label.name.get());
    case Label::Style::kKey:
      return text + "[" + repr_of(label.name.get()) + "]";
    case Label::Style::kIndex:
      return text + "[" + std::to_string(label.index) + "]";
  }
  return text;
}

std::string name_of_root(PyObject* root) {
  if (root != nullptr && PyFunction_Check(root)) {
    return text_of(reinterpret_cast<PyFunctionObject*>(root)->func_name);
  }
  return "obj";
}

}  // namespace

std::string GraphEncoder::path() const {
  std::string path = name_of_root(root_);
  bool is_state = false;  // Whether the frame is the state dict of the object before.
  for (const Frame& frame : stack_) {
    if (frame.kind == Frame::Kind::kPlan) {
      const auto& steps = frame.plan->steps();
      const auto position = static_cast<std::size_t>(frame.position);
      if (position == 0 || position > steps.size()) break;
      const Label& label = steps[position - 1].label;
      is_state = label.style == Label::Style::kNone;
      path += render(label);
    } else if (frame.kind == Frame::Kind::kDict ||
               frame.kind == Frame::Kind::kFrozenDict) {
      if (!frame.key) break;
      const bool is_attribute =
          (is_state || frame.is_state) && PyUnicode_CheckExact(frame.key.get());
      path += is_attribute ? "." + text_of(frame.key.get())
                           : "[" + repr_of(frame.key.get()) + "]";
      is_state = false;
    } else {
      if (frame.position == 0) break;
      path += "[" + std::to_string(frame.position - 1) + "]";
      is_state = false;
    }
  }
  if (current_ != nullptr) {
    path += " (";
    PyTypeObject* type = Py_TYPE(current_);
    const Ref module =
        attribute_or_null(reinterpret_cast<PyObject*>(type), state_.names.module);
    const std::string_view name = type->tp_name;
    if (name.find('.') == name.npos && module && PyUnicode_Check(module.get()) &&
        PyUnicode_Compare(module.get(), state_.names.builtins_plain.get()) != 0) {
      path += text_of(module.get()) + ".";
    }
    path += std::string(name) + ")";
  }
  return path;
}

void GraphEncoder::describe_failure() {
  if (PyErr_ExceptionMatches(state_.encode_error.get())) return;
  // Running out of memory, or being interrupted, is nobody's fault on the path.
  if (PyErr_ExceptionMatches(PyExc_MemoryError)) return;
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return;
  const Ref raised = take_error();
  const Ref text = Ref::steal_or_null(PyObject_Str(raised.get()));
  if (!text) forgive(PyExc_Exception);
  const std::string where = path();
  const std::string why = text ? text_of(text.get()) : "cannot be written";
  raise_encode(state_, where, why, raised.get());
}

void GraphEncoder::fail(std::string_view detail) {
  const std::string where = path();
  raise_encode(state_, where, detail, nullptr);
}

}  // namespace waybill::py
