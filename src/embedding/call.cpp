// Tested by tests/embedding/call_test.cpp and prepared_call_test.cpp.

#include "waybill/call.h"

#include <Python.h>

#include <algorithm>
#include <utility>

#include "embedding/linked_package.h"
#include "embedding/python_error.h"
#include "embedding/python_options.h"
#include "python/prepared_call.h"
#include "python/runtime/ref.h"
#include "python/runtime/text.h"
#include "waybill/buffers.h"
#include "waybill/gil.h"
#include "waybill/object.h"
#include "waybill/signature.h"

namespace waybill {
namespace {

using embedding::guarded;
using py::Ref;

Result<std::vector<std::uint8_t>> carry_out(const Object& call, int level) {
  return guarded([&]() -> Result<std::vector<std::uint8_t>> {
    const Ref module = Ref::steal(PyImport_ImportModule("waybill.calls"));
    const Ref function = Ref::steal(PyObject_GetAttrString(module.get(), "_carry_out"));
    const Ref outcome =
        Ref::steal(level != 0 ? PyObject_CallFunction(
                                    function.get(), "O(si)", call.get(), "zstd",
                                    std::clamp(level, kFastestLevel, kSmallestLevel))
                              : PyObject_CallOneArg(function.get(), call.get()));
    char* start = nullptr;
    Py_ssize_t size = 0;
    py::check(PyBytes_AsStringAndSize(outcome.get(), &start, &size));
    return std::vector<std::uint8_t>(start, start + size);
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

Result<std::vector<std::uint8_t>> call(BytesView payload, const CallOptions& options) {
  Result<std::vector<std::uint8_t>> outcome;
  {
    const GilScope gil;
    if (!gil) return tl::unexpected(embedding::no_interpreter());
    const Result<Object> received = decode(payload, options.load);
    if (!received) return tl::unexpected(received.error());
    outcome = carry_out(*received, options.compression_level);
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
    static_cast<void>(call_.release());  // Its objects have ended with Python.
  }
}

Result<std::vector<std::uint8_t>> PreparedCall::encode(PyObject* arguments,
                                                       PyObject* keywords) const {
  return guarded([&]() -> Result<std::vector<std::uint8_t>> {
    if (call_ == nullptr) return tl::unexpected(moved_from());
    const Ref bytes = call_->encode(arguments_of(arguments), keywords_of(keywords));
    const BytesView view = py::bytes_of(bytes.get());
    return std::vector<std::uint8_t>(view.begin(), view.end());
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
    if (auto is_there = embedding::demand_object(function); !is_there) {
      return tl::unexpected(is_there.error());
    }
    py::State& state = embedding::linked_state();
    return PreparedCall(std::make_unique<py::PreparedCall>(
        state, function, embedding::hooks_of(state, options)));
  });
}

}  // namespace waybill
