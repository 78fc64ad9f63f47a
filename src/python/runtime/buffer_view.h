#pragma once

// The buffer protocol as a type.

#include <Python.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "python/runtime/py_error.h"
#include "python/runtime/ref.h"
#include "waybill/bytes.h"

namespace waybill::py {

// The contiguous bytes of an object. While the view exists, they are not moved and the
// object cannot be resized; its owner may still write to them.
class BufferView {
 public:
  // `has_format`: also requests format and shape of the items, which not all exporters
  // have.
  explicit BufferView(PyObject* object, bool has_format = false) {
    const int format = has_format ? PyBUF_FORMAT : 0;
    check(PyObject_GetBuffer(object, &view_, PyBUF_ANY_CONTIGUOUS | format));
  }
  ~BufferView() { PyBuffer_Release(&view_); }
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;

  bool is_read_only() const { return view_.readonly != 0; }
  BytesView bytes() const {
    return {static_cast<const std::uint8_t*>(view_.buf),
            static_cast<std::size_t>(view_.len)};
  }
  // The owner of the memory; for a PickleBuffer, the object it was made of.
  PyObject* owner() const { return view_.obj; }
  // Format of an item, as in PEP 3118; empty without `has_format`.
  std::string_view format() const {
    return view_.format == nullptr ? std::string_view() : view_.format;
  }
  // Empty without `has_format`.
  std::vector<std::uint64_t> shape() const {
    if (view_.format == nullptr || view_.shape == nullptr) return {};
    return {view_.shape, view_.shape + view_.ndim};
  }
  // Whether the first index varies fastest, and not the last.
  bool is_fortran() const {
    return view_.format != nullptr && PyBuffer_IsContiguous(&view_, 'C') == 0;
  }

  // A one-dimensional object with the same bytes, which it keeps alive.
  Ref flat() const {
    const Ref held = Ref::steal(PyPickleBuffer_FromObject(view_.obj));
    Ref flat = Ref::steal(PyObject_CallMethod(held.get(), "raw", nullptr));
    const Py_buffer* shown = PyMemoryView_GET_BUFFER(flat.get());
    if (shown->buf == view_.buf && shown->len == view_.len) return flat;
    return Ref::steal(  // This exporter returns new memory for each request.
        PyBytes_FromStringAndSize(static_cast<const char*>(view_.buf), view_.len));
  }

 private:
  Py_buffer view_;
};

// Bytes of a memoryview.
inline BytesView bytes_of_memory(PyObject* memory) {
  const Py_buffer* buffer = PyMemoryView_GET_BUFFER(memory);
  return {static_cast<const std::uint8_t*>(buffer->buf),
          static_cast<std::size_t>(buffer->len)};
}

}  // namespace waybill::py
