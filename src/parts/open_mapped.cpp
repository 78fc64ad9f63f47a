// Tested by tests/parts/mapped_file_test.cpp.

#include <utility>

#include "format/frame.h"
#include "waybill/parts.h"

namespace waybill {

Result<VerifiedEnvelope> open_mapped(BytesView file, const Limits& limits) {
  return open_mapped(file, file, limits);
}

namespace {

// Those buffers of a head that are all there.
void attach_what_is_there(Envelope& head, BytesView file) {
  for (StoredBuffer& row : head.buffers) {
    const std::uint64_t start = head.buffers_offset + row.place;
    if (start <= file.size() && row.stored_length <= file.size() - start) {
      row.bytes = file.subspan(start, row.stored_length);
    }
  }
}

}  // namespace

Result<VerifiedEnvelope> open_mapped(BytesView head, BytesView file,
                                     const Limits& limits, FileEnd end) {
  Result<Envelope> envelope = open_head(head, limits);
  if (!envelope) return tl::unexpected(std::move(envelope.error()));
  if (end == FileEnd::kCut && file.size() < envelope->size) {
    attach_what_is_there(*envelope, file);
    return verify(*std::move(envelope), limits);
  }
  if (Result<void> attached = attach_buffers(*envelope, file); !attached) {
    return tl::unexpected(std::move(attached.error()));
  }
  if (envelope->size != file.size()) {
    return tl::unexpected(envelope::trailing_bytes(envelope->size, file.size()));
  }
  return verify(*std::move(envelope), limits);
}

}  // namespace waybill
