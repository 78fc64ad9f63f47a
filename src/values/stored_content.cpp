// Tested by tests/values/value_envelope_test.cpp and value_refusals_test.cpp.

#include "values/stored_content.h"

#include <string>

#include "wire/format.h"

namespace waybill::envelope {

bool is_writable(const StoredBuffer& row) {
  return row.kind == wire::BufferKind::kByteArray ||
         row.kind == wire::BufferKind::kWritable;
}

Result<data::Binary> stored_content(const Envelope& envelope, std::uint64_t number,
                                    std::size_t offset) {
  const StoredBuffer& row = envelope.buffers[number];
  if (row.bytes.size() != row.stored_length) {
    return tl::unexpected(Error{ErrorCode::kTruncated, offset,
                                "the bytes of stored buffer " + std::to_string(number) +
                                    " should be there, and only the head was opened"});
  }
  if (!row.compression) return data::Binary(row.bytes.begin(), row.bytes.end());
  data::Binary content(row.length);
  const Result<void> done =
      decompress_buffer(row, row.bytes, envelope.buffers_offset + row.place, content);
  if (!done) return tl::unexpected(done.error());
  return content;
}

}  // namespace waybill::envelope
