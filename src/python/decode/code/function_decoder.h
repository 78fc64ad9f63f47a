#pragma once

// Builds bare functions: those that are nothing but their code and the modules they
// name.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/bytes.h"

namespace waybill::py {

// The function in an envelope that holds a bare one. Null if it holds something else,
// if anything about it is wrong, or if a module that it needs is not imported yet: the
// way that serves all envelopes deals with those. `head_size`: where the code ends, if
// there is a function. Throws PyError.
Ref decode_function(const State& state, BytesView bytes, std::size_t& head_size);

}  // namespace waybill::py
