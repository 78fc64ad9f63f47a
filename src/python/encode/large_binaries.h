#pragma once

// The large byte strings of a payload, which are copied once: into the envelope.

#include <Python.h>

#include <memory>
#include <vector>

#include "python/runtime/buffer_view.h"
#include "python/runtime/ref.h"
#include "wire/writer.h"

namespace waybill::py {

class LargeBinaries {
 public:
  // From so many bytes on a copy less is worth the trouble.
  static constexpr std::size_t kLeast = 64 << 10;

  // Writes bytes as binary, to be found where they are when the payload is read: those
  // of a bytes object, or those behind a view. `is_lent`: see settle().
  void write(PyObject* bytes, wire::Writer& out);
  void write(std::unique_ptr<BufferView> view, bool is_lent, wire::Writer& out);

  // Copies the bytearrays that have not been copied. Called before code that is not
  // ours runs, since that may change them. What is behind a PickleBuffer was lent to be
  // read late, and numpy goes on to pickle other things after it.
  void settle(wire::Writer& out);

 private:
  struct Open {
    std::size_t insertion;  // Its number in the writer.
    std::unique_ptr<BufferView> view;
  };

  std::vector<Ref> immutable_;                     // bytes objects.
  std::vector<std::unique_ptr<BufferView>> lent_;  // Behind PickleBuffers.
  std::vector<Open> open_;                         // All others, until they settle.
  std::vector<std::vector<std::uint8_t>> copies_;
};

}  // namespace waybill::py
