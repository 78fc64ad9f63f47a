// Objects, calls and prepared calls of C++ programs: functions that call the serializer
// of the linked package and return errors. Tested by
// tests/embedding/object_test.cpp, call_test.cpp and prepared_call_test.cpp.

#include "waybill/object.h"

#include <Python.h>

#include <algorithm>
#include <utility>

#include "embedding/linked_package.h"
#include "embedding/python_error.h"
#include "python/encode/encode_hooks.h"
#include "python/prepared_call.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/runtime/text.h"
#include "python/serializer.h"
#include "waybill/buffers.h"
#include "waybill/call.h"
#include "waybill/gil.h"
#include "waybill/signature.h"

namespace waybill {
namespace {

using embedding::guarded;
using embedding::linked_state;
using py::Ref;

// The error for a null object: the exception that the failed call of Python has set, if
// there is one.
Result<void> require_object(PyObject* object) {
  if (object != nullptr) return {};
  if (PyErr_Occurred() != nullptr) throw py::PyError();
  return tl::unexpected(Error{ErrorCode::kRaised, 0, "the object is null"});
}

py::SourceUse source_use_of(Source source) {
  switch (source) {
    case Source::kAuto:
      return py::SourceUse::kWhereProven;
    case Source::kRequired:
      return py::SourceUse::kDemanded;
    default:
      return py::SourceUse::kNone;
  }
}

// The renames as the checked rules that the extension takes.
Ref rules_of(const py::State& state, const Renames& renames) {
  const Ref rules = Ref::steal(PyDict_New());
  for (const auto& [old, next] : renames) {
    py::check(
        PyDict_SetItem(rules.get(), py::new_text(old).get(), py::new_text(next).get()));
  }
  // The class of the default renames checks rules when it is called.
  PyObject* default_rules = py::lazy_helper(state, &py::LazyHelpers::default_renames);
  return Ref::steal(PyObject_CallOneArg(
      reinterpret_cast<PyObject*>(Py_TYPE(default_rules)), rules.get()));
}

// The hooks are valid as long as the options and the state.
py::EncodeHooks hooks_of(const py::State& state, const EncodeOptions& options) {
  py::EncodeHooks hooks;
  hooks.application = options.application;
  hooks.key = options.key;
  hooks.compression_level =
      std::clamp(options.compression_level, kFastestLevel, kSmallestLevel);
  hooks.source = source_use_of(options.source);
  if (PySet_GET_SIZE(state.registered.get()) != 0) {
    hooks.by_value = state.registered.get();
  }
  return hooks;
}

std::vector<std::uint8_t> copy_of(const Ref& bytes) {
  const BytesView view = py::bytes_of(bytes.get());
  return {view.begin(), view.end()};
}

Result<std::vector<std::uint8_t>> run_call(const Object& call, int level) {
  return guarded([&]() -> Result<std::vector<std::uint8_t>> {
    const Ref module = Ref::steal(PyImport_ImportModule("waybill.calls"));
    const Ref function = Ref::steal(PyObject_GetAttrString(module.get(), "_carry_out"));
    const Ref outcome =
        Ref::steal(level != 0 ? PyObject_CallFunction(
                                    function.get(), "O(si)", call.get(), "zstd",
                                    std::clamp(level, kFastestLevel, kSmallestLevel))
                              : PyObject_CallOneArg(function.get(), call.get()));
    return copy_of(outcome);
  });
}

Error moved_from() {
  return {ErrorCode::kRaised, 0, "this PreparedCall was moved from; use the other one"};
}

Ref arguments_of(PyObject* arguments) {
  return Ref::steal(arguments == nullptr ? PyTuple_New(0)
                                         : PySequence_Tuple(arguments));
}

Ref keywords_of(PyObject* keywords) {
  Ref copy = Ref::steal(PyDict_New());
  if (keywords == nullptr) return copy;
  py::check(PyDict_Update(copy.get(), keywords));
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(copy.get(), &position, &name, &value)) {
    if (PyUnicode_Check(name)) continue;
    PyErr_SetString(PyExc_TypeError, "keywords must be strings");
    throw py::PyError();
  }
  return copy;
}

}  // namespace

Object::~Object() {
  if (object_ == nullptr) return;
  const GilScope gil;
  // Objects of an interpreter that has ended are not touched.
  if (gil) static_cast<void>(Ref::steal_or_null(object_));
}

Result<std::vector<std::uint8_t>> encode(PyObject* object,
                                         const EncodeOptions& options) {
  return guarded([&]() -> Result<std::vector<std::uint8_t>> {
    if (auto checked = require_object(object); !checked) {
      return tl::unexpected(checked.error());
    }
    py::State& state = linked_state();
    return copy_of(py::encode(state, object, hooks_of(state, options)));
  });
}

Result<Object> decode(BytesView bytes, const LoadOptions& load_options,
                      const Renames& renames) {
  return guarded([&]() -> Result<Object> {
    const bool is_default =
        !load_options.policy && !load_options.keys && !load_options.limits;
    py::State& state = linked_state();
    py::DecodeHooks hooks;
    Ref rules;
    if (!renames.empty()) {
      rules = rules_of(state, renames);
      hooks.renames = rules.get();
    }
    return Object::steal(
        py::decode(state, bytes, hooks, is_default ? nullptr : &load_options)
            .release());
  });
}

Result<std::vector<std::uint8_t>> call(BytesView payload, const CallOptions& options) {
  Result<std::vector<std::uint8_t>> outcome;
  {
    const GilScope gil;
    if (!gil) return tl::unexpected(embedding::no_interpreter());
    const Result<Object> received = decode(payload, options.load);
    if (!received) return tl::unexpected(received.error());
    outcome = run_call(*received, options.compression_level);
  }
  if (!outcome || options.key == nullptr) return outcome;
  return sign(*outcome, *options.key);
}

PreparedCall::PreparedCall(std::unique_ptr<py::PreparedCall> call)
    : call_(std::move(call)) {}
PreparedCall::PreparedCall(PreparedCall&& other) noexcept = default;

PreparedCall& PreparedCall::operator=(PreparedCall&& other) noexcept {
  const PreparedCall before(std::exchange(call_, std::move(other.call_)));
  return *this;
}

PreparedCall::~PreparedCall() {
  if (call_ == nullptr) return;
  const GilScope gil;
  if (gil) {
    call_.reset();
  } else {
    static_cast<void>(call_.release());  // The objects ended with Python.
  }
}

Result<std::vector<std::uint8_t>> PreparedCall::encode(PyObject* arguments,
                                                       PyObject* keywords) const {
  return guarded([&]() -> Result<std::vector<std::uint8_t>> {
    if (call_ == nullptr) return tl::unexpected(moved_from());
    return copy_of(call_->encode(arguments_of(arguments), keywords_of(keywords)));
  });
}

Result<void> PreparedCall::refresh() {
  return guarded([&]() -> Result<void> {
    if (call_ == nullptr) return tl::unexpected(moved_from());
    call_->refresh();
    return {};
  });
}

Result<ContentHash> PreparedCall::digest() const {
  return guarded([&]() -> Result<ContentHash> {
    if (call_ == nullptr) return tl::unexpected(moved_from());
    const Ref bytes = call_->digest();
    ContentHash digest{};
    std::ranges::copy(py::bytes_of(bytes.get()), digest.begin());
    return digest;
  });
}

Result<PreparedCall> prepare(PyObject* function, const EncodeOptions& options) {
  return guarded([&]() -> Result<PreparedCall> {
    if (auto checked = require_object(function); !checked) {
      return tl::unexpected(checked.error());
    }
    py::State& state = embedding::linked_state();
    return PreparedCall(
        std::make_unique<py::PreparedCall>(state, function, hooks_of(state, options)));
  });
}

}  // namespace waybill
