// Locates the object being written, for error messages: its path from the root, such as
// f.__globals__['client'].session._lock, and the code that captured it. Runs only after
// a failure.
// Tested by tests/python/api/test_errors.py and test_object_paths.py.

#include <string>
#include <vector>

#include "python/encode/encode_context.h"
#include "python/encode/paths/path_step.h"
#include "python/runtime/attribute.h"
#include "python/runtime/text.h"

namespace waybill::py {

std::string name_of_root(PyObject* root) {
  Ref name;
  if (root != nullptr && PyFunction_Check(root)) {
    name = Ref::share(as_function(root)->func_name);
  } else if (root != nullptr && PyType_Check(root)) {
    name = Ref::steal_or_null(PyType_GetName(as_type(root)));
    if (!name) PyErr_Clear();
  }
  // No expression begins with "<lambda>".
  return name && is_attribute_name(name.get()) ? text_of(name.get()) : "obj";
}

std::string full_name_of_type(const State& state, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const std::string_view name = type->tp_name;
  const Ref module = attribute_or_null(as_object(type), state.names.module);
  const bool is_prefixed =
      name.find('.') == name.npos && module && PyUnicode_Check(module.get()) &&
      PyUnicode_Compare(module.get(), state.names.builtins_plain.get()) != 0;
  return (is_prefixed ? text_of(module.get()) + "." : "") + std::string(name);
}

std::string reason_of(const State& state, PyObject* raised) {
  if (is_instance_of(state, raised, &LazyHelpers::encode_error)) {
    const Ref reason = get_attribute(raised, "reason");
    if (PyUnicode_Check(reason.get())) return text_of(reason.get());
  }
  const Ref text = steal_unless(PyExc_Exception, PyObject_Str(raised));
  std::string reason = text ? text_of(text.get()) : "";
  return reason.empty() ? Py_TYPE(raised)->tp_name : reason;
}

std::string remedy_of(State& state, PyObject* object, const std::string& reason,
                      const std::string& path) {
  const Ref text = new_text(reason);
  const Ref expression = new_text(path);
  const Ref remedy = steal_unless(
      PyExc_Exception,
      PyObject_CallFunctionObjArgs(lazy_helper(state, &LazyHelpers::remedy), object,
                                   text.get(), expression.get(), nullptr));
  return remedy ? text_of(remedy.get()) : "";
}

namespace {

// The steps from the root to the object being written. The dict of an instance is
// skipped: it counts as the instance.
std::vector<PathStep> steps_of(const WalkStack& stack, PyObject* current) {
  std::vector<Label> labels;
  std::vector<WalkStep> walked;
  labels.reserve(stack.size());
  PyObject* owner = nullptr;
  std::size_t depth = 0;
  for (const WalkStack::Frame& frame : stack) {
    if (owner == nullptr) owner = frame.owner_in_paths();
    if (!walked.empty() && walked.back().object == nullptr) {
      walked.back().object = owner;
    }
    Label label = stack.label_at(depth++);
    if (label.style == Label::Style::kNone) continue;
    labels.push_back(std::move(label));
    walked.push_back({owner, &labels.back(), nullptr});
    owner = nullptr;
  }
  if (owner == nullptr && !walked.empty()) walked.back().object = current;
  std::vector<PathStep> steps;
  for (std::size_t i = 0; i < walked.size(); ++i) {
    PathStep step = path_step(i == 0 ? nullptr : &walked[i - 1], walked[i]);
    if (step.skips_state) steps.pop_back();
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

std::string EncodeContext::path() const {
  std::string path = name_of_root(root);
  for (const PathStep& step : steps_of(stack, current)) path += step.label.spelled();
  return path;
}

Culprit EncodeContext::culprit() const {
  Culprit result;
  result.path = result.short_path = name_of_root(root);
  const std::vector<PathStep> steps = steps_of(stack, current);
  for (const PathStep& step : steps) {
    const Label& label = step.label;
    const std::string text = label.spelled();
    result.path += text;
    result.short_path =
        label.is_variable() ? label.variable() : result.short_path + text;
    result.evaluates = result.evaluates && label.evaluates();
  }
  if (current != nullptr) result.type = full_name_of_type(state, current);
  CodeInfos infos(state);
  const Capture capture = capture_of(infos, steps);
  result.expression = capture.expression;
  result.function = capture.function;
  result.file = capture.file;
  result.line = capture.line;
  return result;
}

void EncodeContext::fail(std::string_view detail) {
  raise_encode(state, culprit(), detail, nullptr);
}

void EncodeContext::add_path_to_error() const {
  // Exhausted memory and interrupts are not caused by an object on the path.
  if (PyErr_ExceptionMatches(PyExc_MemoryError)) return;
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return;
  const Ref raised = take_error();
  if (is_instance_of(state, raised.get(), &LazyHelpers::encode_error)) {
    restore_error(raised);
    return;
  }
  Culprit result = culprit();
  const std::string reason = reason_of(state, raised.get());
  if (current != nullptr) {
    result.remedy = remedy_of(state, current, reason,
                              result.evaluates ? result.path : std::string());
  }
  raise_encode(state, result, reason, raised.get());
}

}  // namespace waybill::py
