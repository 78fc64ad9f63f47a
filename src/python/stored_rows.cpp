// Tested by tests/python/streams/test_stored_streams.py.

#include "python/stored_rows.h"

#include <string>

#include "base/fresh_pages.h"
#include "python/decode/received_buffers.h"
#include "python/runtime/buffer_view.h"
#include "python/runtime/objects.h"
#include "wire/format.h"

namespace waybill::py {

namespace {

// Checks limits that verify() checks again, because the caller allocates memory before
// verify() runs.
Result<void> check_limits(const Envelope& envelope, const Limits& limits) {
  std::uint64_t remaining_bytes = limits.max_memory;
  for (const StoredBuffer& row : envelope.buffers) {
    const auto exceed = [&](const char* limit, std::uint64_t max_count,
                            const char* what) {
      return tl::unexpected(
          Error{ErrorCode::kLimitExceeded,
                static_cast<std::size_t>(envelope.buffers_offset + row.offset),
                "more than the " + std::to_string(max_count) + " " + what + " that " +
                    limit + " allows"});
    };
    const bool is_text = row.kind == wire::BufferKind::kBytes ||
                         row.kind == wire::BufferKind::kByteArray;
    if (is_text && row.length > limits.max_text) {
      return exceed("max_text", limits.max_text, "bytes of one text or binary");
    }
    if (row.length > remaining_bytes) {
      return exceed("max_memory", limits.max_memory,
                    "bytes of memory that the payload would take");
    }
    remaining_bytes -= row.length;
  }
  return {};
}

}  // namespace

Ref stored_rows(const State& state, BytesView head, const Gate& gate) {
  require(state, gate.check_signature(head));
  const Envelope envelope = require(state, open_head(head, gate.limits()));
  require(state, check_limits(envelope, gate.limits()));
  return new_list(envelope.buffers, [&](const StoredBuffer& row) {
    const std::uint64_t offset = envelope.buffers_offset + row.offset;
    // Compressed bytes are read into a separate object.
    const wire::BufferKind kind = row.compression ? wire::BufferKind::kBytes : row.kind;
    return Ref::steal(Py_BuildValue(
        "(iKK)", static_cast<int>(kind), static_cast<unsigned long long>(offset),
        static_cast<unsigned long long>(row.stored_length)));
  });
}

Ref buffer_to_fill(long kind, std::uint64_t length) {
  std::uint8_t* bytes = nullptr;
  const Ref object = new_buffer(static_cast<wire::BufferKind>(kind), length, bytes);
  base::advise_large_pages(bytes, static_cast<std::size_t>(length));
  const Ref view = Ref::steal(PyMemoryView_FromMemory(
      reinterpret_cast<char*>(bytes), static_cast<Py_ssize_t>(length), PyBUF_WRITE));
  return Ref::steal(PyTuple_Pack(2, object.get(), view.get()));
}

Ref address_of(PyObject* object) {
  const BufferView view(object);
  return Ref::steal(PyLong_FromVoidPtr(const_cast<std::uint8_t*>(view.bytes().data())));
}

void advise_large_pages(PyObject* object) {
  const BufferView view(object);
  base::advise_large_pages(const_cast<std::uint8_t*>(view.bytes().data()),
                           view.bytes().size());
}

void copy_buffer(PyObject* target, PyObject* source) {
  const BufferView to(target);
  const BufferView from(source);
  if (to.is_read_only() || to.bytes().size() != from.bytes().size()) {
    raise(PyExc_ValueError, "copy_buffer() needs writable memory of the same size");
  }
  auto* begin = const_cast<std::uint8_t*>(to.bytes().data());
  base::FreshPages pages(begin, to.bytes().size());
  base::copy_in_blocks(begin, from.bytes(), pages, [](BytesView) {});
}

}  // namespace waybill::py
