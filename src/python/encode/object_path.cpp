// The path from the root to the object that is being written, for errors:
// f.__globals__['client'].session._lock. Built only when something failed.
// Tested by tests/python/api/test_errors.py.

#include <string>

#include "python/encode/encode_context.h"
#include "python/runtime/attribute.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

std::string render(const Label& label) {
  std::string text = label.text;
  switch (label.style) {
    case Label::Style::kNone:
    case Label::Style::kText:
      return text;
    case Label::Style::kAttribute:
      return "." + text_of(label.name.get());
    case Label::Style::kKey:
      return text + "[" + shown_key(label.name.get()) + "]";
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

std::string EncodeContext::path() const {
  using Kind = WalkStack::Frame::Kind;
  std::string path = name_of_root(root);
  bool is_state = false;  // Whether the frame is the state dict of the object before.
  for (const WalkStack::Frame& frame : stack) {
    if (frame.kind == Kind::kPlan) {
      const auto& steps = frame.plan->steps();
      const auto position = static_cast<std::size_t>(frame.position);
      if (position == 0 || position > steps.size()) break;
      const Label& label = steps[position - 1].label;
      is_state = label.style == Label::Style::kNone;
      path += render(label);
    } else if (frame.kind == Kind::kDict || frame.kind == Kind::kFrozenDict) {
      if (!frame.key) break;
      const bool is_attribute =
          (is_state || frame.is_state) && PyUnicode_CheckExact(frame.key.get());
      path += is_attribute ? "." + text_of(frame.key.get())
                           : "[" + shown_key(frame.key.get()) + "]";
      is_state = false;
    } else {
      if (frame.position == 0) break;
      path += "[" + std::to_string(frame.position - 1) + "]";
      is_state = false;
    }
  }
  if (current != nullptr) {
    path += " (";
    PyTypeObject* type = Py_TYPE(current);
    const Ref module =
        attribute_or_null(reinterpret_cast<PyObject*>(type), state.names.module);
    const std::string_view name = type->tp_name;
    if (name.find('.') == name.npos && module && PyUnicode_Check(module.get()) &&
        PyUnicode_Compare(module.get(), state.names.builtins_plain.get()) != 0) {
      path += text_of(module.get()) + ".";
    }
    path += std::string(name) + ")";
  }
  return path;
}

void EncodeContext::add_path_to_error() const {
  // Running out of memory, or being interrupted, is nobody's fault on the path.
  if (PyErr_ExceptionMatches(PyExc_MemoryError)) return;
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return;
  const Ref raised = take_error();
  if (is_of(state, raised.get(), &LateHelpers::encode_error)) {
    put_back_error(raised);
    return;
  }
  const Ref text = Ref::steal_or_null(PyObject_Str(raised.get()));
  if (!text) forgive(PyExc_Exception);
  const std::string where = path();
  std::string why = text ? text_of(text.get()) : "cannot be written";
  // What pickle says of objects that belong to one process, and much else.
  if (current != nullptr && why.starts_with("cannot pickle '")) {
    const Ref remedy = Ref::steal_or_null(
        PyObject_CallOneArg(late(state, &LateHelpers::remedy), current));
    if (remedy) why += "; " + text_of(remedy.get());
    if (!remedy) forgive(PyExc_Exception);
  }
  raise_encode(state, where, why, raised.get());
}

}  // namespace waybill::py
