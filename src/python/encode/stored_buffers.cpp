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
  Row row;
  row.bytes = Ref::share(bytes);
  write(std::move(row), out);
}

void StoredBuffers::add(std::unique_ptr<BufferView> view, BufferKind kind, bool is_lent,
                        wire::Writer& out) {
  Row row;
  row.kind = kind;
  row.is_open = !is_lent;
  row.format = view->format();
  row.shape = view->shape();
  row.is_fortran = view->is_fortran();
  row.view = std::move(view);
  write(std::move(row), out);
}

void StoredBuffers::copy(bool takes_lent) {
  for (Row& row : rows_) {
    if (!row.view || !(row.is_open || takes_lent)) continue;
    const BytesView bytes = row.view->bytes();
    row.bytes = new_bytes(bytes);
    row.view.reset();
    row.is_open = false;
  }
}

std::vector<BufferParts> StoredBuffers::parts() const {
  std::vector<BufferParts> parts;
  if (first_ != nullptr) parts = first_->parts();
  parts.reserve(parts.size() + rows_.size());
  for (const Row& row : rows_) {
    BufferParts& part = parts.emplace_back();
    part.kind = row.kind;
    part.bytes = row.view ? row.view->bytes() : bytes_of(row.bytes.get());
    part.format = row.format;
    part.shape = row.shape;
    part.is_fortran = row.is_fortran;
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
