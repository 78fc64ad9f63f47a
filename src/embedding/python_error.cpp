#include "embedding/python_error.h"

#include <string>
#include <string_view>

#include "python/runtime/attribute.h"
#include "python/runtime/ref.h"
#include "python/runtime/text.h"

namespace waybill::embedding {
namespace {

using py::Ref;

// Text for people: whatever cannot be told is left out.
std::string forgiving_text(const Ref& text) {
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

// "package.module.Error: message"; builtin ones without their module.
std::string sentence_of(PyObject* exception) {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(exception));
  const std::string module = forgiving_text(attribute(type, "__module__"));
  std::string sentence;
  if (!module.empty() && module != "builtins") sentence = module + ".";
  sentence += forgiving_text(attribute(type, "__qualname__"));
  const std::string message =
      forgiving_text(Ref::steal_or_null(PyObject_Str(exception)));
  return message.empty() ? sentence : sentence + ": " + message;
}

// What raise_decode() made an exception of.
bool read_decode_error(PyObject* exception, Error& error) {
  const std::string name = forgiving_text(attribute(exception, "code"));
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
    std::string_view detail;
    const std::string message =
        forgiving_text(Ref::steal_or_null(PyObject_Str(exception)));
    detail = message;
    const std::string start = to_string(error) + ": ";
    if (detail.starts_with(start)) detail.remove_prefix(start.size());
    error.detail = detail;
    return true;
  }
  return false;
}

// Whether it is a waybill.DecodeError; the package may not be imported.
bool is_decode_error(PyObject* exception) {
  const Ref name = Ref::steal_or_null(PyUnicode_FromString("waybill._errors"));
  const Ref module = name ? Ref::steal_or_null(PyImport_GetModule(name.get())) : Ref();
  const Ref type = module ? attribute(module.get(), "DecodeError") : Ref();
  const int is = type ? PyObject_IsInstance(exception, type.get()) : 0;
  PyErr_Clear();
  return is > 0;
}

}  // namespace

Error no_interpreter() {
  return {ErrorCode::kRaised, 0, "no Python runs; start one with waybill::Interpreter"};
}

Error no_gil() {
  return {ErrorCode::kRaised, 0,
          "this thread has not got the GIL; open a waybill::GilScope around the call"};
}

Error take_python_error() {
  const Ref exception = py::take_error();
  if (!exception) return {ErrorCode::kRaised, 0, "a call failed and raised nothing"};
  Error error{ErrorCode::kRaised, 0, {}};
  if (is_decode_error(exception.get()) && read_decode_error(exception.get(), error)) {
    return error;
  }
  return {ErrorCode::kRaised, 0, sentence_of(exception.get())};
}

}  // namespace waybill::embedding
