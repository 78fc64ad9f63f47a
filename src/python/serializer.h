#pragma once

// From a Python object to an envelope and back: the pipelines, end to end.

#include <Python.h>

#include "python/decode/decode_hooks.h"
#include "python/encode/graph_encoder.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"
#include "waybill/gate.h"
#include "waybill/parts.h"

namespace waybill::py {

// Makes a new state ready. Throws PyError.
void start(State& state);

// An envelope as bytes. Throws PyError.
Ref encode(State& state, PyObject* object, const EncodeHooks& hooks);
// The same as a list of bytes-like objects; see seal_chunks().
Ref encode_chunks(State& state, PyObject* object, const EncodeHooks& hooks);

// What a payload of `object` would need, without making one: no object that cannot
// travel is an error here. With `by_value`, a function is taken apart even if it could
// be imported.
Manifest discover(State& state, PyObject* object, bool by_value);

// A key for caches: equal for equal objects, whatever the file names and line numbers
// of their code. With `passes_over`, what cannot travel is left out and no error. With
// `names_classes`, a class by value counts as its id and not as its content.
// The same for all Pythons that have the source of its code: by_source. Nothing where
// some code has none.
std::optional<ContentHash> source_hash(State& state, PyObject* object);
ContentHash content_hash(State& state, PyObject* object, bool passes_over,
                         bool names_classes);

// The object in the envelope that `bytes` are. Checks all of it before anything is
// imported or built. `bytes` must not change meanwhile. `options`: null for whatever
// the process allows. Throws PyError.
Ref decode(State& state, BytesView bytes, const DecodeHooks& hooks,
           const LoadOptions* options = nullptr);

// The object that is an extracted part, whose buffers are where `hooks` tell. Throws
// PyError.
Ref decode_extracted(State& state, const ExtractedPart& part, const DecodeHooks& hooks,
                     const Gate& gate);
// The object that stands at `offset` of a payload, all of which is built. Throws
// PyError.
Ref decode_part(State& state, const Result<VerifiedEnvelope>& envelope,
                std::size_t offset, const DecodeHooks& hooks, const Gate& gate);

// Whether dumps and loads keep what speeds up what comes again; what they have kept is
// forgotten. Results are the same.
void use_caches(State& state, bool are_used);
// Forgets what they have kept.
void clear_caches(State& state);
// What the caches hold and how often they served, as a dict of dicts of int; see
// waybill.cache_info().
Ref cache_info(const State& state);

}  // namespace waybill::py
