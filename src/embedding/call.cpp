// Tested by tests/embedding/call_test.cpp.

#include "waybill/call.h"

#include <Python.h>

#include <algorithm>

#include "embedding/python_error.h"
#include "python/runtime/ref.h"
#include "waybill/buffers.h"
#include "waybill/gil.h"
#include "waybill/object.h"
#include "waybill/signature.h"

namespace waybill {
namespace {

using py::Ref;

Result<std::vector<std::uint8_t>> carry_out(const Object& call, int level) {
  return embedding::guarded([&]() -> Result<std::vector<std::uint8_t>> {
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

}  // namespace waybill
