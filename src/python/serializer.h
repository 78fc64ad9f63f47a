#pragma once

// The pipelines from a Python object to an envelope and back.

#include <Python.h>

#include "python/decode/decode_hooks.h"
#include "python/encode/graph_encoder.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"
#include "waybill/gate.h"
#include "waybill/parts.h"

namespace waybill::py {

// Initializes a new state. Throws PyError.
void start(State& state);

// An envelope as bytes. Throws PyError.
Ref encode(State& state, PyObject* object, const EncodeHooks& hooks);
// An envelope as a list of bytes-like objects; see seal_chunks().
Ref encode_chunks(State& state, PyObject* object, const EncodeHooks& hooks);

// The imports that a payload of `object` would need. Objects that cannot be sent are
// ignored. With `by_value`, a function is sent by value even if it could be imported.
Manifest discover(State& state, PyObject* object, bool by_value);

// A cache key: equal for equal objects, whatever the file names and line numbers of
// their code. With `skips_blockers`, objects that cannot be sent are left out instead
// of being an error. With `names_classes`, a class by value counts as its id and not as
// its content.
ContentHash content_hash(State& state, PyObject* object, bool skips_blockers,
                         bool names_classes);
// A cache key that is the same on all Python versions, since it hashes source instead
// of code. Nothing if some code has no source.
std::optional<ContentHash> source_hash(State& state, PyObject* object);

// The object in an envelope. Checks the whole envelope before anything is imported or
// built. `bytes` must not change meanwhile. `options`: null for the restrictions of the
// process alone. Throws PyError.
Ref decode(State& state, BytesView bytes, const DecodeHooks& hooks,
           const LoadOptions* options = nullptr);

// The object of an extracted part, whose buffers are in `hooks`. Throws PyError.
Ref decode_extracted(State& state, const ExtractedPart& part, const DecodeHooks& hooks,
                     const Gate& gate);
// The object at `offset` of a payload. Builds the whole payload. Throws PyError.
Ref decode_part(State& state, const VerifiedEnvelope& envelope, std::size_t offset,
                const DecodeHooks& hooks, const Gate& gate);

// The source in an envelope and the bytecode beside it, to compare the two: a list of
// tuples (unit, code), one for each code body that the payload of this head uses.
// `unit`: the fields of waybill._source's Unit as a tuple, or None without source;
// `code`: the code object of the bytecode. Runs and compiles nothing. Throws PyError:
// DecodeError for a head that open_head() or verify() refuses, PythonMismatchError for
// code of another Python version.
Ref sent_sources(const State& state, BytesView head);

// Turns the caches of dumps and loads on or off, and clears them. Never changes
// results.
void use_caches(State& state, bool are_used);
void clear_caches(State& state);
// The contents, hits and misses of the caches; see waybill.cache_info().
Ref cache_info(const State& state);

}  // namespace waybill::py
