#pragma once

// Makes an envelope of an encoder's payload.

#include <cstdint>
#include <vector>

#include "python/encode/graph_encoder.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/manifest.h"

namespace waybill::py {

// The envelope of a complete payload. Throws PyError. Call once.
Ref seal(const State& state, GraphEncoder& graph);

// The envelope as a list of one-dimensional bytes-like objects, to be written one after
// the other. Large buffers are not copied, and must not change until they are written.
Ref seal_chunks(const State& state, GraphEncoder& graph);

// The manifest of an encoder's payload. Throws PyError.
Manifest manifest_of(const State& state, GraphEncoder& graph);

// The size of an envelope. Cost: that of seal_chunks(), with digests and compression.
struct SealedSize {
  std::uint64_t total = 0;
  std::vector<std::uint64_t> buffers;  // The size of each stored buffer.
  std::vector<std::uint8_t> head;      // Only with `keeps_head`, or with source.
};
SealedSize sealed_size(const State& state, GraphEncoder& graph, bool keeps_head);

}  // namespace waybill::py
