#pragma once

// The source in an envelope and the bytecode beside it, for who compares the two.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/bytes.h"

namespace waybill::py {

// A list of tuples (unit, code), one for each code body that the payload of this head
// uses: the fields of waybill._source's Unit as a tuple, or None if it has no source;
// and the code object of the bytecode. Nothing of it runs, and nothing is compiled.
// Throws PyError: DecodeError for what open_head() or verify() refuses, and
// PythonMismatchError if another Python made the code.
Ref sent_sources(const State& state, BytesView head);

}  // namespace waybill::py
