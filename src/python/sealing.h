#pragma once

// What an encoder has written, as an envelope.

#include "python/encode/graph_encoder.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The envelope around a payload that is complete. Throws PyError. Call once.
Ref seal(const State& state, GraphEncoder& graph);

// The same as a list of bytes-like objects of one dimension, whose bytes one after the
// other are the envelope: large buffers are not copied, and must not change until they
// have been written.
Ref seal_chunks(const State& state, GraphEncoder& graph);

}  // namespace waybill::py
