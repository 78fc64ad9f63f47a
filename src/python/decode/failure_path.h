#pragma once

// Where in a payload an exception comes from.

#include <span>

#include "python/decode/frame.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Adds a note to the exception that is set, which code of the payload's or of a library
// has raised: the path from the root of the payload to what was being built. Waybill's
// own errors say where they are, and get none. `stack`: what is open.
void describe_failure(const State& state, std::span<const Frame> stack);

}  // namespace waybill::py
