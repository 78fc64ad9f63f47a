#pragma once

// The objects of an envelope's stored buffers.

#include <Python.h>

#include <span>
#include <string>
#include <vector>

#include "python/decode/decode_hooks.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"

namespace waybill::py {

class ReceivedBuffers {
 public:
  // Makes all objects, before anything else of the envelope is built: a buffer with a
  // wrong digest is refused before code runs. Throws PyError.
  //
  // With hooks.stored, these are the objects; compressed ones are decompressed, and
  // removed from the list. With hooks.memory, arrays that are not compressed become
  // views of it. With hooks.data, buffers of the kind kSource become views of it. All
  // others are copied or decompressed from the end of the envelope; decompression
  // releases the GIL.
  ReceivedBuffers(const State& state, const Envelope& envelope,
                  const DecodeHooks& hooks);

  std::span<const Ref> objects() const { return objects_; }

 private:
  std::string name_of(std::size_t number) const;
  [[noreturn]] void fail_as_truncated(const StoredBuffer& row,
                                      std::string detail) const;
  Ref take_given(std::size_t number, const StoredBuffer& row) const;
  // The object for a compressed buffer; `bytes` are not needed afterwards.
  Ref decompress(const StoredBuffer& row, BytesView bytes) const;
  Ref make_view(const StoredBuffer& row) const;
  Ref make_view_of_data(const StoredBuffer& row) const;
  Ref make_copy(const StoredBuffer& row) const;
  // The bytes of a buffer in a memoryview of the whole envelope.
  Ref part_of(PyObject* memory, const StoredBuffer& row) const;
  void check_digest(const StoredBuffer& row, BytesView bytes) const;

  const State& state_;
  const Envelope& envelope_;
  const DecodeHooks& hooks_;
  std::vector<Ref> objects_;
};

// An object with uninitialized memory for a buffer of this kind and length. `bytes`
// receives the address of the memory. Throws PyError.
Ref new_buffer(wire::BufferKind kind, std::uint64_t length, std::uint8_t*& bytes);

}  // namespace waybill::py
