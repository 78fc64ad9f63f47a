#pragma once

// Calls that arrive as payloads, and their outcomes, which are payloads again:
// docs/calls.md. In Python, dumps_call and loads_outcome of waybill.calls are the other
// end.

#include <cstdint>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/error.h"
#include "waybill/gate.h"

namespace waybill {

class SigningKey;

struct CallOptions {
  // What the call has to satisfy to be made.
  LoadOptions load = {};
  // Signs the outcome; null: nobody does.
  const SigningKey* key = nullptr;
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

}  // namespace waybill
