// Sets Python exceptions for errors of the core and of the encoder.
// Tested by tests/python/api/test_errors.py.

#include "python/runtime/py_error.h"

#include <utility>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/state.h"
#include "python/runtime/text.h"

namespace waybill::py {

namespace {

Ref text(std::string_view view) {
  return Ref::steal(PyUnicode_DecodeUTF8(
      view.data(), static_cast<Py_ssize_t>(view.size()), "backslashreplace"));
}

Ref LazyHelpers::* exception_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kPythonMismatch:
      return &LazyHelpers::python_mismatch_error;
    case ErrorCode::kRefused:
      return &LazyHelpers::policy_error;
    case ErrorCode::kBadSignature:
    case ErrorCode::kBadKey:
      return &LazyHelpers::signature_error;
    default:
      return &LazyHelpers::decode_error;
  }
}

// Raises `exception` with attributes, and with a cause that may be null.
[[noreturn]] void raise_with(
    const Ref& exception, const Ref& cause,
    std::initializer_list<std::pair<const char*, PyObject*>> attributes) {
  for (const auto& [name, value] : attributes) {
    check(PyObject_SetAttrString(exception.get(), name, value));
  }
  if (cause) PyException_SetCause(exception.get(), Ref(cause).release());
  PyErr_SetObject(type_of(exception.get()), exception.get());
  throw PyError();
}

}  // namespace

void raise(const State& state, const Error& error) {
  raise_decode(state, error.code, error.offset, error.detail);
}

void raise_decode(const State& state, ErrorCode code, std::size_t offset,
                  std::string detail) {
  const Ref cause = take_error();
  PyObject* type = lazy_helper(state, exception_of(code));
  Ref message = text(to_string(Error{code, offset, std::move(detail)}));
  Ref name = text(name_of(code));
  Ref position = Ref::steal(PyLong_FromSize_t(offset));
  raise_with(call(type, message.get()), cause,
             {{"code", name.get()}, {"offset", position.get()}});
}

void raise_encode(const State& state, const Culprit& culprit, std::string_view reason,
                  PyObject* cause) {
  std::string sentence = culprit.path;
  if (!culprit.type.empty()) sentence += " (" + culprit.type + ")";
  sentence += ": ";
  sentence += reason;
  if (!culprit.remedy.empty()) sentence += "; " + culprit.remedy;
  const Ref message = text(sentence);
  const Ref texts[] = {text(culprit.path),       text(culprit.short_path),
                       text(culprit.type),       text(reason),
                       text(culprit.expression), text(culprit.function),
                       text(culprit.file),       text(culprit.remedy)};
  const Ref line = Ref::steal(PyLong_FromUnsignedLong(culprit.line));
  raise_with(call(lazy_helper(state, &LazyHelpers::make_encode_error), message.get(),
                  cause == nullptr ? Py_None : cause),
             Ref::share(cause),
             {{"path", texts[0].get()},
              {"short", texts[1].get()},
              {"evaluates", culprit.evaluates ? Py_True : Py_False},
              {"type", texts[2].get()},
              {"reason", texts[3].get()},
              {"expression", texts[4].get()},
              {"function", texts[5].get()},
              {"file", texts[6].get()},
              {"line", line.get()},
              {"remedy", texts[7].get()}});
}

std::string advice_on_versions(PyObject* module_name) {
  const PrintableText name(module_name);
  if (!name.view().starts_with("waybill.")) return {};
  const Ref waybill = Ref::steal(PyImport_ImportModule("waybill"));
  const Ref version = get_attribute(waybill.get(), "__version__");
  std::string advice = "another version of waybill wrote it, and this is waybill ";
  advice += PrintableText(version.get()).view();
  return advice + "; install the same version on both sides";
}

void raise_missing(const State& state, PyObject* module_name,
                   std::string_view needed_by, const Ref& cause,
                   PyObject* environment) {
  std::string sentence = "the payload needs a module that cannot be imported here: ";
  sentence += PrintableText(module_name).view();
  sentence += needed_by;
  sentence += "; ";
  std::string advice = advice_on_versions(module_name);
  if (advice.empty()) {
    const Ref hint =
        call(lazy_helper(state, &LazyHelpers::advice), module_name, environment);
    advice = PrintableText(hint.get()).view();
  }
  sentence += advice;
  Ref message = text(sentence);
  // The missing module may be a parent package, or one that the module imports. Python
  // 3.15 cannot print an error that names a module whose package is missing.
  const Ref missing =
      cause ? attribute_or_null(cause.get(), state.names.name_plain) : Ref();
  const bool has_name = missing && PyUnicode_Check(missing.get());
  raise_with(
      call(lazy_helper(state, &LazyHelpers::missing_module_error), message.get()),
      cause, {{"name", has_name ? missing.get() : module_name}});
}

}  // namespace waybill::py
