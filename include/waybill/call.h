#pragma once

// Calls as payloads, and their outcomes, which are payloads again: docs/calls.md. In
// Python, dumps_call and loads_outcome of waybill.calls are the other end.

#include <cstdint>
#include <memory>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/envelope.h"
#include "waybill/error.h"
#include "waybill/gate.h"
#include "waybill/object.h"

namespace waybill {

class SigningKey;

namespace py {
class PreparedCall;
}

struct CallOptions {
  // What the call has to satisfy to be made.
  LoadOptions load = {};
  // Signs the outcome; null: nobody does.
  const SigningKey* key = nullptr;
  // Of the outcome; see EncodeOptions.
  int compression_level = 0;
};

// Makes the call in `payload`, and gives its outcome: the result, or what was raised,
// SystemExit included. There must be an interpreter, and no exception set in it that
// the caller still wants: it would be lost. Takes the GIL; calls from several
// threads take turns as threads of Python do. Nothing limits how long it runs or what
// it does: run it in a process that can be given up.
//
// Errors: those of decode() and kMalformed for a payload that is no call: then nothing
// was called. kRaised for a KeyboardInterrupt in the call, and without an interpreter.
[[nodiscard]] Result<std::vector<std::uint8_t>> call(BytesView payload,
                                                     const CallOptions& options = {});

// A function that was encoded once, to be sent with many arguments: waybill.prepare()
// of Python, and the same bytes. The function is frozen: it is sent as it was when it
// was prepared, and so is what the arguments share with it. Move-only; keeps the
// function and all that came with it alive. All calls with the GIL; without it, and of
// one that was moved from, they are errors, kRaised. The destructor takes it.
class PreparedCall {
 public:
  PreparedCall(PreparedCall&& other) noexcept;
  PreparedCall& operator=(PreparedCall&& other) noexcept;
  ~PreparedCall();

  // The payload of a call with a tuple of arguments and a dict of keyword arguments,
  // borrowed; null stands for none. Costs what the arguments do where these are data or
  // refer to what came with the function.
  //
  // Errors: kRaised, as of encode().
  [[nodiscard]] Result<std::vector<std::uint8_t>> encode(
      PyObject* arguments = nullptr, PyObject* keywords = nullptr) const;

  // Encodes the function once more, as it is now. Errors: kRaised; then the function
  // stays as it was prepared.
  [[nodiscard]] Result<void> refresh();

  // Names the function as it was prepared: equal if the payloads of equal arguments
  // would be, but for application field, signature and compression. Errors: kRaised.
  [[nodiscard]] Result<ContentHash> digest() const;

 private:
  friend Result<PreparedCall> prepare(PyObject* function, const EncodeOptions& options);

  explicit PreparedCall(std::unique_ptr<py::PreparedCall> call);

  std::unique_ptr<py::PreparedCall> call_;
};

// Prepares calls of a function. With the GIL. `options` hold for each call: the
// application field is copied, the key must outlive what is returned.
//
// Errors: kRaised, as of encode().
[[nodiscard]] Result<PreparedCall> prepare(PyObject* function,
                                           const EncodeOptions& options = {});

}  // namespace waybill
