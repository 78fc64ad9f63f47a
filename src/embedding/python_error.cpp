// Tested by tests/embedding/object_test.cpp and call_test.cpp.

#include "embedding/python_error.h"

#include <string>
#include <string_view>

#include "python/runtime/attribute.h"
#include "python/runtime/ref.h"
#include "python/runtime/text.h"

namespace waybill::embedding {
namespace {

using py::Ref;

// The text of a message; empty if it cannot be read.
std::string text_or_empty(const Ref& text) {
  if (text && PyUnicode_Check(text.get())) {
    const Ref bytes = Ref::steal_or_null(
        PyUnicode_AsEncodedString(text.get(), "utf-8", "backslashreplace"));
    if (bytes) {
      return {PyBytes_AS_STRING(bytes.get()),
              static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))};
    }
  }
  PyErr_Clear();
  return {};
}

Ref attribute(PyObject* object, const char* name) {
  Ref value = Ref::steal_or_null(PyObject_GetAttrString(object, name));
  if (!value) PyErr_Clear();
  return value;
}

// "package.module.Error: message"; without the module for built-in exceptions.
std::string message_of(PyObject* exception) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(exception));
  const std::string module = text_or_empty(attribute(type, "__module__"));
  std::string name;
  if (!module.empty() && module != "builtins") name = module + ".";
  name += text_or_empty(attribute(type, "__qualname__"));
  const std::string message =
      text_or_empty(Ref::steal_or_null(PyObject_Str(exception)));
  return message.empty() ? name : name + ": " + message;
}

// Reads the Error that raise_decode() raised as an exception.
bool read_decode_error(PyObject* exception, Error& error) {
  const std::string name = text_or_empty(attribute(exception, "code"));
  const Ref offset = attribute(exception, "offset");
  if (name.empty() || !offset || !PyLong_Check(offset.get())) return false;
  for (int number = 0; number < static_cast<int>(ErrorCode::kRaised); ++number) {
    const auto code = static_cast<ErrorCode>(number);
    if (name_of(code) != name) continue;
    error = {code, PyLong_AsSize_t(offset.get()), {}};
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
    const std::string message =
        text_or_empty(Ref::steal_or_null(PyObject_Str(exception)));
    std::string_view detail = message;
    const std::string start = to_string(error) + ": ";
    if (detail.starts_with(start)) detail.remove_prefix(start.size());
    error.detail = detail;
    return true;
  }
  return false;
}

// Whether it is a waybill.DecodeError. Does not import the package.
bool is_decode_error(PyObject* exception) {
  const Ref name = Ref::steal_or_null(PyUnicode_FromString("waybill._api.errors"));
  const Ref module = name ? Ref::steal_or_null(PyImport_GetModule(name.get())) : Ref();
  const Ref type = module ? attribute(module.get(), "DecodeError") : Ref();
  const int is_instance = type ? PyObject_IsInstance(exception, type.get()) : 0;
  PyErr_Clear();
  return is_instance > 0;
}

}  // namespace

bool has_gil() { return Py_IsInitialized() != 0 && PyGILState_Check() != 0; }

Error no_interpreter() {
  return {ErrorCode::kRaised, 0,
          "Python is not running; start it with waybill::Interpreter"};
}

Error no_gil() {
  return {
      ErrorCode::kRaised, 0,
      "this thread does not have the GIL; open a waybill::GilScope around the call"};
}

Error take_python_error() {
  const Ref exception = py::take_error();
  if (!exception) return {ErrorCode::kRaised, 0, "a call failed without an exception"};
  Error error{ErrorCode::kRaised, 0, {}};
  if (is_decode_error(exception.get()) && read_decode_error(exception.get(), error)) {
    return error;
  }
  return {ErrorCode::kRaised, 0, message_of(exception.get())};
}

}  // namespace waybill::embedding
