// What an error tells of the object that is being written: the path to it from the
// root, f.__globals__['client'].session._lock, and the code that brought it. Told only
// when something failed.
// Tested by tests/python/api/test_errors.py and test_object_paths.py.

#include <string>
#include <vector>

#include "python/encode/encode_context.h"
#include "python/encode/paths/attribute_step.h"
#include "python/encode/paths/capture.h"
#include "python/runtime/attribute.h"
#include "python/runtime/text.h"

namespace waybill::py {

std::string name_of_root(PyObject* root) {
  if (root != nullptr && PyFunction_Check(root)) {
    return text_of(reinterpret_cast<PyFunctionObject*>(root)->func_name);
  }
  if (root != nullptr && PyType_Check(root)) {
    const Ref name =
        Ref::steal_or_null(PyType_GetName(reinterpret_cast<PyTypeObject*>(root)));
    if (name) return text_of(name.get());
    PyErr_Clear();
  }
  return "obj";
}

std::string full_name_of_type(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const std::string_view name = type->tp_name;
  const Ref module =
      attribute_or_null(reinterpret_cast<PyObject*>(type), state.names.module);
  const bool is_told =
      name.find('.') == name.npos && module && PyUnicode_Check(module.get()) &&
      PyUnicode_Compare(module.get(), state.names.builtins_plain.get()) != 0;
  return (is_told ? text_of(module.get()) + "." : "") + std::string(name);
}

std::string reason_of(const State& state, PyObject* raised) {
  if (is_of(state, raised, &LateHelpers::encode_error)) {
    const Ref reason = Ref::steal(PyObject_GetAttrString(raised, "reason"));
    if (PyUnicode_Check(reason.get())) return text_of(reason.get());
  }
  const Ref text = Ref::steal_or_null(PyObject_Str(raised));
  if (!text) forgive(PyExc_Exception);
  std::string reason = text ? text_of(text.get()) : "";
  return reason.empty() ? Py_TYPE(raised)->tp_name : reason;
}

// What pickle says of objects that belong to one process, and much else.
std::string remedy_of(State& state, PyObject* object, const std::string& reason) {
  const Ref text = new_text(reason);
  const Ref remedy = Ref::steal_or_null(PyObject_CallFunctionObjArgs(
      late(state, &LateHelpers::remedy), object, text.get(), nullptr));
  if (!remedy) forgive(PyExc_Exception);
  return remedy ? text_of(remedy.get()) : "";
}

namespace {

// The labels of what is open, the outermost first. Of what a reducer gave, and the
// object has as an attribute, that attribute's. `given`: which ones those are, whose
// object did not bring them by its methods.
std::vector<Label> labels_of(const WalkStack& stack, PyObject* current,
                             std::vector<bool>& given) {
  std::vector<Label> labels;
  std::vector<PyObject*> objects;
  for (const WalkStack::Frame& frame : stack) {
    labels.push_back(stack.label_at(labels.size()));
    objects.push_back(frame.object.get());
  }
  objects.push_back(current);
  given.resize(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    PyObject* child = objects[i + 1];
    if (objects[i] == nullptr || child == nullptr) continue;
    if (is_argument(labels[i])) {
      const Ref name = attribute_that_is(objects[i], child);
      if (!name) continue;
      labels[i] = Label::of_attribute(name.get());
      given[i] = true;
    } else if (i + 1 < labels.size() && is_tuple_of_state(labels[i], child) &&
               labels[i + 1].style == Label::Style::kIndex) {
      PyObject* item = PyTuple_GET_ITEM(child, labels[i + 1].index);
      const Ref name = attribute_that_is(objects[i], item);
      if (!name) continue;
      labels[i] = {};
      labels[i + 1] = Label::of_attribute(name.get());
      given[i + 1] = true;
    }
  }
  return labels;
}

}  // namespace

std::string EncodeContext::path() const {
  std::string path = name_of_root(root);
  std::vector<bool> given;
  for (const Label& label : labels_of(stack, current, given)) path += label.spelled();
  return path;
}

Culprit EncodeContext::culprit() const {
  Culprit told;
  told.path = told.short_path = name_of_root(root);
  std::vector<bool> given;
  const std::vector<Label> labels = labels_of(stack, current, given);
  std::vector<PathStep> steps;
  PyObject* owner = nullptr;
  std::size_t next = 0;
  for (const WalkStack::Frame& frame : stack) {
    const bool is_given = given[next];
    const Label& label = labels[next++];
    const std::string step = label.spelled();
    told.path += step;
    told.short_path =
        label.is_variable() ? text_of(label.name.get()) : told.short_path + step;
    told.evaluates = told.evaluates && label.evaluates();
    // The dict that stands for an object hangs on the object.
    if (frame.kind == WalkStack::Frame::Kind::kPlan) owner = frame.object.get();
    steps.push_back({is_given ? nullptr : owner, &label});
    if (label.style != Label::Style::kNone) owner = nullptr;
  }
  if (current != nullptr) told.type = full_name_of_type(state, current);
  CodeInfos infos(state);
  const Capture capture = capture_of(infos, steps);
  told.expression = capture.expression;
  told.function = capture.function;
  told.file = capture.file;
  told.line = capture.line;
  return told;
}

void EncodeContext::fail(std::string_view detail) {
  raise_encode(state, culprit(), detail, nullptr);
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
  Culprit told = culprit();
  const std::string reason = reason_of(state, raised.get());
  if (current != nullptr) told.remedy = remedy_of(state, current, reason);
  raise_encode(state, told, reason, raised.get());
}

}  // namespace waybill::py
