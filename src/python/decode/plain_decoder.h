#pragma once

// The quick way in for plain data: None, bool, int, float, str, bytes, and lists,
// tuples, dicts, sets and frozensets of them.

#include <Python.h>

#include <span>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "verify/reusable_nodes.h"
#include "waybill/envelope.h"
#include "waybill/error.h"
#include "waybill/limits.h"

namespace waybill::py {

// The object of such an envelope, built in one pass and checked in passing: building
// plain data runs no code, so nothing has to be known before. Null without an error if
// the envelope holds anything else or if anything is wrong with it; then it is as if
// nothing had been tried, and the other way gives the object or the error. Throws
// PyError, MemoryError at most.
Ref decode_plain(BytesView bytes, const Limits& limits);

// The same for a payload that is plain but for known nodes, which stand in it in their
// order, and instances of ordinary classes; `objects` are what the nodes mean, see
// envelope::object_count(). The frame around the payload is known to be sound.
Ref decode_plain_around(const State& state, const Envelope& envelope,
                        std::span<const envelope::ReusableNode> nodes,
                        std::span<const Ref> objects, const Limits& limits);

}  // namespace waybill::py
