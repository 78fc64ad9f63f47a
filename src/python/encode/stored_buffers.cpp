// Tested by tests/python/kinds/test_large_buffers.py.

#include "python/encode/stored_buffers.h"

#include <utility>

#include "python/runtime/text.h"

namespace waybill::py {

using wire::BufferKind;

void StoredBuffers::write(Row row, wire::Writer& out) {
  out.node(wire::NodeTag::kStored, 1);
  out.unsigned_integer(count());
  size_ += row.bytes ? bytes_of(row.bytes.get()).size() : row.view->bytes().size();
  rows_.push_back(std::move(row));
}

void StoredBuffers::add(PyObject* bytes, wire::Writer& out) {
  write({.bytes = Ref::share(bytes)}, out);
}

void StoredBuffers::add(std::unique_ptr<BufferView> view, BufferKind kind, bool is_lent,
                        wire::Writer& out) {
  const BufferView& shown = *view;
  write({.kind = kind,
         .view = std::move(view),
         .needs_copy = !is_lent,
         .format = std::string(shown.format()),
         .shape = shown.shape(),
         .is_fortran = shown.is_fortran()},
        out);
}

void StoredBuffers::copy(bool takes_lent) {
  for (Row& row : rows_) {
    if (!row.view || !(row.needs_copy || takes_lent)) continue;
    const BytesView bytes = row.view->bytes();
    row.bytes = new_bytes(bytes);
    row.view.reset();
    row.needs_copy = false;
  }
}

std::vector<BufferParts> StoredBuffers::parts() const {
  std::vector<BufferParts> parts;
  if (first_ != nullptr) parts = first_->parts();
  parts.reserve(parts.size() + rows_.size());
  for (const Row& row : rows_) {
    parts.push_back({.kind = row.kind,
                     .bytes = row.view ? row.view->bytes() : bytes_of(row.bytes.get()),
                     .format = row.format,
                     .shape = row.shape,
                     .is_fortran = row.is_fortran});
  }
  return parts;
}

std::vector<Ref> StoredBuffers::objects() const {
  std::vector<Ref> objects;
  if (first_ != nullptr) objects = first_->objects();
  for (const Row& row : rows_) {
    objects.push_back(row.view ? row.view->flat() : row.bytes);
  }
  return objects;
}

}  // namespace waybill::py
