#pragma once

// The large buffers of a payload. They are not copied until the envelope is sealed,
// which copies each once, or until they are written to a file.

#include <Python.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "python/runtime/buffer_view.h"
#include "python/runtime/ref.h"
#include "waybill/buffers.h"
#include "wire/writer.h"

namespace waybill::py {

class StoredBuffers {
 public:
  // Each writes a node kStored, for a bytes object or for the bytes of a view.
  // `is_lent`: see settle().
  void add(PyObject* bytes, wire::Writer& out);
  void add(std::unique_ptr<BufferView> view, wire::BufferKind kind, bool is_lent,
           wire::Writer& out);

  // Copies the bytearrays that are not copied yet. Called before Python code of the
  // program runs, which may change them. Memory that an object lends by a PickleBuffer
  // is only read later, because reducers of further NumPy arrays are such code.
  // `takes_lent`: copies such memory too, for a payload that is cached.
  void settle(bool takes_lent = false) {
    if (!rows_.empty()) copy(takes_lent);
  }

  // Continues the numbers of `first`, which must outlive this.
  void fork_from(const StoredBuffers& first) { first_ = &first; }

  std::size_t count() const {
    return (first_ == nullptr ? 0 : first_->count()) + rows_.size();
  }
  // Bytes of the buffers that were added here.
  std::uint64_t size() const { return size_; }
  // All buffers, in order of their numbers, as views into this.
  std::vector<BufferParts> parts() const;
  // All buffers as one-dimensional bytes-like objects, which keep their memory alive.
  std::vector<Ref> objects() const;

 private:
  struct Row {
    wire::BufferKind kind{};
    Ref bytes{};  // A bytes object; null if `view` is set.
    std::unique_ptr<BufferView> view{};
    bool needs_copy = false;  // settle() must copy the bytes.
    std::string format{};
    std::vector<std::uint64_t> shape{};
    bool is_fortran = false;
  };

  void write(Row row, wire::Writer& out);
  void copy(bool takes_lent);

  const StoredBuffers* first_ = nullptr;
  std::vector<Row> rows_;
  std::uint64_t size_ = 0;
};

}  // namespace waybill::py
