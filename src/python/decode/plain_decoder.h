#pragma once

// The quick way in for plain data: None, bool, int, float, str, bytes, and lists,
// tuples, dicts, sets and frozensets of them.

#include <Python.h>

#include <optional>
#include <span>

#include "python/decode/plain_loop.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "verify/reusable_nodes.h"
#include "waybill/envelope.h"
#include "waybill/error.h"
#include "waybill/limits.h"

namespace waybill::py {

// The object of such an envelope, built in one pass and checked in passing: building
// plain data runs no code, so nothing has to be known before. Null without an error if
// the envelope holds anything else or if anything is wrong with it: verify() tells, and
// GraphDecoder goes on with what is `begun`, if that has a value. Throws PyError,
// MemoryError at most.
Ref decode_plain(BytesView bytes, const Limits& limits,
                 std::optional<PlainDecoder>& begun);

// The same for a payload that is plain but for known nodes, which stand in it in their
// order, and instances of ordinary classes; `objects` are what the nodes mean, see
// envelope::object_count(). The frame around the payload is known to be sound.
Ref decode_plain_around(const State& state, const Envelope& envelope,
                        std::span<const envelope::ReusableNode> nodes,
                        std::span<const Ref> objects, const Limits& limits,
                        std::optional<PlainDecoder>& begun);

}  // namespace waybill::py
