#pragma once

// The stored buffers of an envelope, as the objects that its payload means by them.

#include <Python.h>

#include <span>
#include <vector>

#include "python/decode/decode_hooks.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "waybill/envelope.h"

namespace waybill::py {

class ArrivedBuffers {
 public:
  // Makes all of them, before anything else of the envelope is built: a buffer whose
  // digest is wrong is refused before code runs. Throws PyError.
  //
  // `hooks` say where they are. Where `stored` gives the objects, these are what was
  // read, and compressed ones are taken out of the list. Where `memory` is given,
  // arrays that are not compressed become views of it; what is copied by who gets it
  // becomes one of the `data`. All others are copied from the envelope, which they
  // stand behind, or decompressed, for which the GIL is let go.
  ArrivedBuffers(const State& state, const Envelope& envelope,
                 const DecodeHooks& hooks);

  std::span<const Ref> objects() const { return objects_; }

 private:
  Ref given(std::size_t number, const StoredBuffer& row) const;
  // The object for a buffer whose bytes are those; they are not needed after this.
  Ref decompressed(const StoredBuffer& row, BytesView bytes) const;
  Ref view(const StoredBuffer& row) const;
  Ref view_of_data(const StoredBuffer& row) const;
  Ref copy(const StoredBuffer& row) const;
  // Unless that is left out for views.
  void check_mapped(const StoredBuffer& row, BytesView bytes) const;
  void check_digest(const StoredBuffer& row, BytesView bytes) const;

  const State& state_;
  const Envelope& envelope_;
  const DecodeHooks& hooks_;
  std::vector<Ref> objects_;
};

// Memory for a buffer of this kind and length, with nothing in it yet, and where its
// bytes are to be put. Throws PyError.
Ref new_buffer(wire::BufferKind kind, std::uint64_t length, std::uint8_t*& bytes);

}  // namespace waybill::py
