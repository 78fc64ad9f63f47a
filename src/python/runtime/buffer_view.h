#pragma once

// The buffer protocol as a type.

#include <Python.h>

#include "python/runtime/py_error.h"
#include "waybill/bytes.h"

namespace waybill::py {

// The contiguous bytes behind an object. As long as this lives they stay where they
// are, and the object cannot be resized; its owner may still write to them.
class BufferView {
 public:
  explicit BufferView(PyObject* object) {
    check(PyObject_GetBuffer(object, &view_, PyBUF_ANY_CONTIGUOUS));
  }
  ~BufferView() { PyBuffer_Release(&view_); }
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;

  bool is_read_only() const { return view_.readonly != 0; }
  BytesView bytes() const {
    return {static_cast<const std::uint8_t*>(view_.buf),
            static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_;
};

}  // namespace waybill::py
