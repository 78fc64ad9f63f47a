#include "embedding/python.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "embedding/python_error.h"
#include "python/runtime/ref.h"
#include "waybill/gil.h"

// The interpreter leaks by design. GCC's runtime is a library, which has to see this.
extern "C" const char* __asan_default_options();
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() {
  return "detect_leaks=0";
}

namespace waybill::embedding {
namespace {

using py::Ref;

[[noreturn]] void give_up() { throw std::runtime_error(take_python_error().detail); }

Object evaluate_with(const char* name, const Ref& value, const std::string& expression,
                     const std::string& statements) try {
  const Ref scope = Ref::steal(PyDict_New());
  py::check(PyDict_SetItemString(scope.get(), "__builtins__", PyEval_GetBuiltins()));
  if (value) py::check(PyDict_SetItemString(scope.get(), name, value.get()));
  const std::string all = "import sys, waybill\n" + statements;
  Ref::steal(PyRun_String(all.c_str(), Py_file_input, scope.get(), scope.get()));
  return Object::steal(
      PyRun_String(expression.c_str(), Py_eval_input, scope.get(), scope.get()));
} catch (const py::PyError&) {
  give_up();
}

std::string as_text(const Object& object) {
  if (!object) give_up();
  const Ref text = Ref::steal_or_null(PyObject_Str(object.get()));
  if (!text) give_up();
  return PyUnicode_AsUTF8(text.get());
}

}  // namespace

Interpreter started(const InterpreterOptions& options) {
  Result<Interpreter> interpreter = Interpreter::start(options);
  if (!interpreter) throw std::runtime_error(interpreter.error().detail);
  return *std::move(interpreter);
}

Object evaluate(const std::string& expression, const std::string& statements) {
  Object object = evaluate_with(nullptr, {}, expression, statements);
  if (!object) give_up();
  return object;
}

std::string text_of(const std::string& expression, const std::string& statements) {
  const GilScope gil;
  return as_text(evaluate(expression, statements));
}

Bytes bytes_of(const std::string& expression, const std::string& statements) {
  const GilScope gil;
  const Object object = evaluate(expression, statements);
  char* start = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(object.get(), &start, &size) < 0) give_up();
  return {start, start + size};
}

std::string text_of(const Bytes& data, const std::string& expression) {
  const GilScope gil;
  const Ref bytes = Ref::steal_or_null(
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(data.data()),
                                static_cast<Py_ssize_t>(data.size())));
  return as_text(evaluate_with("data", bytes, expression, ""));
}

}  // namespace waybill::embedding
