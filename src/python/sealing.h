#pragma once

// What an encoder has written, as an envelope.

#include <cstdint>
#include <vector>

#include "python/encode/graph_encoder.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/manifest.h"

namespace waybill::py {

// The envelope around a payload that is complete. Throws PyError. Call once.
Ref seal(const State& state, GraphEncoder& graph);

// The same as a list of bytes-like objects of one dimension, whose bytes one after the
// other are the envelope: large buffers are not copied, and must not change until they
// have been written.
Ref seal_chunks(const State& state, GraphEncoder& graph);

// The manifest of what an encoder has written. Throws PyError.
Manifest manifest_of(const State& state, GraphEncoder& graph);

// How long the envelope would be, with the bytes that its stored buffers take in it, in
// their order; and the head, if `keeps_head` or if it has source. Cost: as
// seal_chunks(): buffers are digested, and compressed if they would be.
struct SealedSize {
  std::uint64_t total = 0;
  std::vector<std::uint64_t> buffers;
  std::vector<std::uint8_t> head;
};
SealedSize sealed_size(const State& state, GraphEncoder& graph, bool keeps_head);

}  // namespace waybill::py
