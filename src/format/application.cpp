// The application field of an envelope that is there already.
// Tested by tests/format/application_test.cpp.

#include "base/hash.h"
#include "format/buffer_table.h"
#include "waybill/envelope.h"
#include "wire/format.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill {

Result<std::vector<std::uint8_t>> with_application(BytesView envelope,
                                                   BytesView application) {
  const Result<Envelope> opened = open_whole(envelope);
  if (!opened) return tl::unexpected(opened.error());

  wire::Reader reader(envelope);
  wire::Token token;
  reader.next(token);  // All this was read before.
  reader.next(token);
  const std::uint64_t fields = token.count;
  const std::size_t first = reader.offset();
  for (std::uint64_t i = 0; i < wire::kHeaderFieldCount; ++i) reader.skip();
  const std::size_t place = reader.offset();
  if (fields > wire::kHeaderFieldCount) reader.skip();
  const std::size_t rest = reader.offset();
  const std::size_t end = opened->debug_info.offset + opened->debug_info.bytes.size();

  // Fields of later formats may follow, and stay where they are.
  const bool has_later = fields > wire::kHeaderFieldCount + 1;
  const bool has_field = has_later || !application.empty();
  wire::Writer writer;
  const bool has_buffers = !opened->buffers.empty();
  writer.array(has_buffers ? wire::kSectionCountWithBuffers : wire::kSectionCount);
  writer.array(has_later ? fields : wire::kHeaderFieldCount + (has_field ? 1 : 0));
  writer.append(envelope.subspan(first, place - first));
  if (has_field) writer.binary(application);
  writer.append(envelope.subspan(rest, end - rest));
  if (has_buffers) {
    envelope::rewrite_buffer_table(writer, *opened, envelope::kPlainDigest);
  }
  writer.binary(base::digest_of(writer.view()));
  writer.nil();
  std::vector<std::uint8_t> out = writer.take();
  envelope::append_buffers(out, opened->buffers);
  return out;
}

}  // namespace waybill
