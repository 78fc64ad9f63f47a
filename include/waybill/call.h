#pragma once

// Calls as payloads, and their outcomes, which are payloads too: docs/calls.md. The
// Python counterpart is dumps_call and loads_outcome of waybill.calls.

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
  // Conditions on the payload.
  LoadOptions load = {};
  // Signs the outcome; null: the outcome is unsigned.
  const SigningKey* key = nullptr;
  // For the outcome; see EncodeOptions.
  int compression_level = 0;
};

// Makes the call in `payload`, and returns its outcome: the result, or the exception,
// SystemExit included. There must be an interpreter; a pending exception of the caller
// is lost. Takes the GIL; calls from several threads interleave as Python threads do.
// Nothing limits run time and effects of the call: run it in a process that can be
// killed.
//
// Errors: those of decode(), and kMalformed for a payload that is not a call: then
// nothing was called. kRaised for a KeyboardInterrupt in the call, and without an
// interpreter.
[[nodiscard]] Result<std::vector<std::uint8_t>> call(BytesView payload,
                                                     const CallOptions& options = {});

// A function encoded once, to be sent with many arguments: waybill.prepare() of Python,
// with the same bytes. The function, and objects that it shares with arguments, are
// frozen as they were when it was prepared. Move-only; keeps the function and
// everything encoded with it alive. All calls need the GIL; without it, and after a
// move, they return kRaised. The destructor takes the GIL.
class PreparedCall {
 public:
  PreparedCall(PreparedCall&& other) noexcept;
  PreparedCall& operator=(PreparedCall&& other) noexcept;
  ~PreparedCall();

  // The payload of a call with a tuple of arguments and a dict of keyword arguments,
  // borrowed; null stands for none. Cost: linear in the arguments, if they are data or
  // refer to objects encoded with the function.
  //
  // Errors: kRaised, as for encode().
  [[nodiscard]] Result<std::vector<std::uint8_t>> encode(
      PyObject* arguments = nullptr, PyObject* keywords = nullptr) const;

  // Encodes the function in its present state. Errors: kRaised; the function then stays
  // as it was prepared.
  [[nodiscard]] Result<void> refresh();

  // A digest of the prepared function: equal if the payloads of equal arguments are
  // equal except for application field, signature and compression. Errors: kRaised.
  [[nodiscard]] Result<ContentHash> digest() const;

 private:
  friend Result<PreparedCall> prepare(PyObject* function, const EncodeOptions& options);

  explicit PreparedCall(std::unique_ptr<py::PreparedCall> call);

  std::unique_ptr<py::PreparedCall> call_;
};

// Prepares calls of a function. Needs the GIL. `options` apply to each call: the
// application field is copied, the key must outlive the result.
//
// Errors: kRaised, as for encode().
[[nodiscard]] Result<PreparedCall> prepare(PyObject* function,
                                           const EncodeOptions& options = {});

}  // namespace waybill
