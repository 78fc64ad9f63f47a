#pragma once

// For who reads the stored buffers of an envelope by himself, from a file.

#include <Python.h>

#include <cstdint>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/gate.h"

namespace waybill::py {

// A list of tuples (kind, offset, length), one for each buffer that stands behind a
// head, which has the signature that the gate demands: what its bytes are read to, as
// they stand there. Throws PyError.
Ref stored_rows(const State& state, BytesView head, const Gate& gate);

// A tuple of an object for a buffer of this kind, and a memoryview to put its bytes
// through. Throws PyError.
Ref buffer_to_fill(long kind, std::uint64_t length);

// Where the bytes of an object are, as an int. Throws PyError.
Ref address_of(PyObject* object);

// Asks for large pages behind an object that is about to be written to. Throws PyError.
void advise_large_pages(PyObject* object);

// Copies the bytes of one object to the memory of another, which is as large and was
// not written to yet. Throws PyError.
void copy_buffer(PyObject* target, PyObject* source);

}  // namespace waybill::py
