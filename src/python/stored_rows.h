#pragma once

// Functions for callers that read the stored buffers of an envelope from a file
// directly.

#include <Python.h>

#include <cstdint>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/gate.h"

namespace waybill::py {

// A list of tuples (kind, offset, length), one for each stored buffer after a head:
// `kind` is that of buffer_to_fill(), and `length` is as stored. The head must have the
// signature that the gate demands. Throws PyError.
Ref stored_rows(const State& state, BytesView head, const Gate& gate);

// A tuple of an object for a buffer of this kind, and a memoryview to write its bytes.
// Throws PyError.
Ref buffer_to_fill(long kind, std::uint64_t length);

// The address of an object's bytes, as an int. Throws PyError.
Ref address_of(PyObject* object);

// Requests large pages for the memory of an object that will be written. Throws
// PyError.
void advise_large_pages(PyObject* object);

// Copies the bytes of one object to the memory of another, which has the same size and
// has not been written to. Throws PyError.
void copy_buffer(PyObject* target, PyObject* source);

}  // namespace waybill::py
