// Tested by tests/parts/mapped_file_test.cpp.

#include <utility>

#include "format/frame.h"
#include "waybill/parts.h"

namespace waybill {

Result<VerifiedEnvelope> open_mapped(BytesView file, const Limits& limits) {
  return open_mapped(file, file, limits);
}

Result<VerifiedEnvelope> open_mapped(BytesView head, BytesView file,
                                     const Limits& limits) {
  Result<Envelope> envelope = open_head(head, limits);
  if (!envelope) return tl::unexpected(std::move(envelope.error()));
  if (Result<void> attached = attach_buffers(*envelope, file); !attached) {
    return tl::unexpected(std::move(attached.error()));
  }
  if (envelope->size != file.size()) {
    return tl::unexpected(envelope::trailing_bytes(envelope->size, file.size()));
  }
  return verify(*std::move(envelope), limits);
}

}  // namespace waybill
