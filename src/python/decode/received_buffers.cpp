// Tested by tests/python/kinds/test_large_buffers.py and
// tests/python/streams/test_mapped.py.

#include "python/decode/received_buffers.h"

#include <utility>

#include "base/fresh_pages.h"
#include "format/buffer_table.h"
#include "python/runtime/buffer_view.h"
#include "python/runtime/gil.h"
#include "python/runtime/py_error.h"
#include "wire/format.h"

namespace waybill::py {

using wire::BufferKind;

namespace {

// Whether the buffer is the memory of another object, for which a view is enough.
bool is_memory(BufferKind kind) {
  return kind == BufferKind::kReadOnly || kind == BufferKind::kWritable ||
         kind == BufferKind::kSource;
}

}  // namespace

Ref new_buffer(BufferKind kind, std::uint64_t length, std::uint8_t*& bytes) {
  const auto size = static_cast<Py_ssize_t>(length);
  if (size < 0) throw std::bad_alloc();
  Ref object;
  char* begin = nullptr;
  if (kind == BufferKind::kByteArray || kind == BufferKind::kWritable) {
    // In two steps: with a size, PyByteArray_FromStringAndSize() reads uninitialized
    // memory if it fails, and may print an error.
    object = Ref::steal(PyByteArray_FromStringAndSize(nullptr, 0));
    check(PyByteArray_Resize(object.get(), size));
    begin = PyByteArray_AS_STRING(object.get());
  } else {
    object = Ref::steal(PyBytes_FromStringAndSize(nullptr, size));
    begin = PyBytes_AS_STRING(object.get());
  }
  bytes = reinterpret_cast<std::uint8_t*>(begin);
  return object;
}

ReceivedBuffers::ReceivedBuffers(const State& state, const Envelope& envelope,
                                 const DecodeHooks& hooks)
    : state_(state), envelope_(envelope), hooks_(hooks) {
  objects_.reserve(envelope.buffers.size());
  for (std::size_t i = 0; i < envelope.buffers.size(); ++i) {
    const StoredBuffer& row = envelope.buffers[i];
    if (hooks.stored == nullptr && row.bytes.size() != row.stored_length) {
      fail_as_truncated(row, "the file ends before or in " + name_of(i));
    }
    const bool is_view = hooks.memory != nullptr && is_memory(row.kind);
    const bool is_source = hooks.data != nullptr && row.kind == BufferKind::kSource;
    objects_.push_back(hooks.stored != nullptr ? take_given(i, row)
                       : row.compression       ? decompress(row, row.bytes)
                       : is_view               ? make_view(row)
                       : is_source             ? make_view_of_data(row)
                                               : make_copy(row));
  }
}

std::string ReceivedBuffers::name_of(std::size_t number) const {
  return "stored buffer " + std::to_string(number) + " of " +
         std::to_string(envelope_.buffers.size());
}

void ReceivedBuffers::fail_as_truncated(const StoredBuffer& row,
                                        std::string detail) const {
  raise_decode(state_, ErrorCode::kTruncated, envelope_.buffers_offset + row.offset,
               std::move(detail));
}

Ref ReceivedBuffers::take_given(std::size_t number, const StoredBuffer& row) const {
  const Py_ssize_t count = PySequence_Size(hooks_.stored);
  if (count < 0) throw PyError();
  if (number >= static_cast<std::size_t>(count)) {
    fail_as_truncated(row, "the input ends before or in " + name_of(number));
  }
  const auto index = static_cast<Py_ssize_t>(number);
  Ref object = Ref::steal(PySequence_GetItem(hooks_.stored, index));
  const BufferView view(object.get());
  if (view.bytes().size() != row.stored_length) {
    fail_as_truncated(row, "stored buffer " + std::to_string(number) + " has " +
                               std::to_string(view.bytes().size()) + " of " +
                               std::to_string(row.stored_length) + " bytes");
  }
  if (row.compression) {
    Ref content = decompress(row, view.bytes());
    check(PySequence_SetItem(hooks_.stored, index, Py_None));
    return content;
  }
  check_digest(row, view.bytes());
  return object;
}

Ref ReceivedBuffers::decompress(const StoredBuffer& row, BytesView bytes) const {
  std::uint8_t* content = nullptr;
  Ref object = new_buffer(row.kind, row.length, content);
  base::advise_large_pages(content, static_cast<std::size_t>(row.length));
  const std::uint64_t offset = envelope_.buffers_offset + row.offset;
  require(state_, without_gil([&] {
            return decompress_buffer(row, bytes, offset,
                                     {content, static_cast<std::size_t>(row.length)});
          }));
  return object;
}

Ref ReceivedBuffers::part_of(PyObject* memory, const StoredBuffer& row) const {
  const auto begin = static_cast<Py_ssize_t>(envelope_.buffers_offset + row.offset);
  return Ref::steal(
      PySequence_GetSlice(memory, begin, begin + static_cast<Py_ssize_t>(row.length)));
}

Ref ReceivedBuffers::make_view(const StoredBuffer& row) const {
  if (hooks_.checks_stored) check_digest(row, row.bytes);
  const Ref part = part_of(hooks_.memory, row);
  if (row.kind != BufferKind::kReadOnly) return part;
  return Ref::steal(PyObject_CallMethod(part.get(), "toreadonly", nullptr));
}

Ref ReceivedBuffers::make_view_of_data(const StoredBuffer& row) const {
  check_digest(row, row.bytes);
  const Ref items = Ref::steal(PyMemoryView_FromObject(hooks_.data));
  const Ref bytes = Ref::steal(PyObject_CallMethod(items.get(), "cast", "s", "B"));
  const Ref whole = Ref::steal(PyObject_CallMethod(bytes.get(), "toreadonly", nullptr));
  return part_of(whole.get(), row);
}

Ref ReceivedBuffers::make_copy(const StoredBuffer& row) const {
  std::uint8_t* bytes = nullptr;
  Ref object = new_buffer(row.kind, row.length, bytes);
  base::FreshPages pages(bytes, row.bytes.size());
  envelope::RowDigest digest(row);
  // Digests the copy: another process may write to the file.
  base::copy_in_blocks(bytes, row.bytes, pages,
                       [&](BytesView copy) { digest.add(copy); });
  if (!digest.fits()) check_digest(row, {bytes, row.bytes.size()});
  if (hooks_.checked_offsets != nullptr) hooks_.checked_offsets->insert(row.offset);
  return object;
}

void ReceivedBuffers::check_digest(const StoredBuffer& row, BytesView bytes) const {
  std::set<std::uint64_t>* const checked_offsets = hooks_.checked_offsets;
  if (checked_offsets != nullptr && checked_offsets->contains(row.offset)) return;
  require(state_, check_buffer(row, bytes, envelope_.buffers_offset + row.offset));
  if (checked_offsets != nullptr) checked_offsets->insert(row.offset);
}

}  // namespace waybill::py
