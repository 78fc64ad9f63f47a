#pragma once

// What a reduced object gets once it exists: items, pairs and state, as pickle gives
// them.

#include "python/decode/graph_decoder.h"

namespace waybill::py {

Ref finish_reduced(GraphDecoder& decoder, Frame& frame);
Ref finish_new(GraphDecoder& decoder, Frame& frame);

}  // namespace waybill::py
