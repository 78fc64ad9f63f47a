#pragma once

// What makes the objects of nodes that run code of others: look-ups by name, and calls.

#include "python/decode/graph_decoder.h"

namespace waybill::py {

// Each makes the object of its frame's node, of which all parts that it needs are
// there; see NodeCodec. Throws PyError.

// Of a kGlobal node: what the name leads to in the module.
Ref look_up_global(GraphDecoder& decoder, Frame& frame);
// Of a kObject node: what the callable gives.
Ref call_reducer(GraphDecoder& decoder, Frame& frame);
// Of a kNewObject node: what the __new__ of the class gives.
Ref call_new(GraphDecoder& decoder, Frame& frame);

}  // namespace waybill::py
