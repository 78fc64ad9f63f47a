#pragma once

// What an encoder has written, as an envelope.

#include "python/encode/graph_encoder.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The envelope around a payload that is complete. Throws PyError. Call once.
Ref seal(const State& state, GraphEncoder& graph);

}  // namespace waybill::py
