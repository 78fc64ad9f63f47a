#pragma once

// The large buffers of a payload. They stay where they are until the envelope is
// sealed, which copies each once, or until a file takes them.

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
  // Each writes a node kStored, for a bytes object or for what is behind a view.
  // `is_lent`: see settle().
  void add(PyObject* bytes, wire::Writer& out);
  void add(std::unique_ptr<BufferView> view, wire::BufferKind kind, bool is_lent,
           wire::Writer& out);

  // Copies the bytearrays that have not been copied. Called before code that is not
  // ours runs, since that may change them. What an object lends of itself by a
  // PickleBuffer is read late: numpy goes on to pickle other things after it.
  // `takes_lent`: of these, too, for a payload that is kept.
  void settle(bool takes_lent = false) {
    if (!rows_.empty()) copy(takes_lent);
  }

  // Numbers go on after those of `first`, which must outlive this.
  void fork_from(const StoredBuffers& first) { first_ = &first; }

  std::size_t count() const {
    return (first_ == nullptr ? 0 : first_->count()) + rows_.size();
  }
  // Bytes of those that were added here.
  std::uint64_t size() const { return size_; }
  // All of them, in order of their numbers. Views of this.
  std::vector<BufferParts> parts() const;
  // The same as bytes-like objects of one dimension, which keep their memory alive.
  std::vector<Ref> objects() const;

 private:
  struct Row {
    wire::BufferKind kind{};             // A bytes object, if nothing else is said.
    Ref bytes{};                         // A bytes object;
    std::unique_ptr<BufferView> view{};  //   or this.
    bool is_open = false;                // It may change when other code runs.
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
