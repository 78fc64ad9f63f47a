#pragma once

// What stands in for nodes that cannot be built here, for loads(data, code="opaque"):
// it shows what the payload says, and does nothing. Python's half is
// waybill._kinds.opaque.

#include <Python.h>

#include "python/decode/frame.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

class GraphDecoder;

// The error for which something has to stand in for the node of this frame before
// anything is tried: its code cannot be built, or what would make it is opaque itself.
// Null if there is none.
Ref opaque_cause(GraphDecoder& decoder, const Frame& frame);

// Whether something can stand in for the node of this frame, which has failed with the
// error that is set. Not for a payload that is unsound or refused, and not where others
// may hold what the node was about to become.
bool may_be_opaque(const State& state, const Frame& frame);

// Makes what stands in for the node. Throws PyError.
Ref make_opaque(GraphDecoder& decoder, const Frame& frame, PyObject* error);

// Tells it what the node holds, once all of that is there. Throws PyError.
void describe_opaque(GraphDecoder& decoder, const Frame& frame);

}  // namespace waybill::py
