#pragma once

// The quick way in for envelopes of plain data: None, bool, int, float, str, bytes, and
// lists, tuples, dicts, sets and frozensets of them.

#include <Python.h>

#include "python/runtime/ref.h"
#include "waybill/error.h"
#include "waybill/limits.h"

namespace waybill::py {

// The object of such an envelope, built in one pass and checked in passing: building
// plain data runs no code, so nothing has to be known before. Null without an error if
// the envelope holds anything else or if anything is wrong with it; then it is as if
// nothing had been tried, and the other way gives the object or the error. Throws
// PyError, MemoryError at most.
Ref decode_plain(BytesView bytes, const Limits& limits);

}  // namespace waybill::py
