#pragma once

// Envelopes that begin alike, as those of one function with other arguments do. The
// header, the manifest and the code of the first were checked; what comes with equal
// bytes need not be.

#include <memory>
#include <span>
#include <vector>

#include "verify/known_nodes.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

class CheckedHead {
 public:
  // Copies the envelope as far as it is needed. Null if it is signed, or larger than is
  // worth keeping.
  static std::unique_ptr<CheckedHead> make(const VerifiedEnvelope& envelope);

  // Whether an envelope has the same header, manifest and code.
  bool is_start_of(BytesView bytes) const;

  // Whether an envelope is, byte for byte, the last that this was made from or went on
  // with whose payload is a known node and nothing else.
  bool is_all_of(BytesView bytes) const;

  // Forgets where the last one went on: is_all_of() was true.
  void rewind();

  // Whether the last one goes on with a known node and nothing else.
  bool is_known_node_alone() const;

  // Takes up an envelope that this is the start of. False if it has other known nodes
  // or notes, or if anything about it is wrong: open() and verify() tell. What is
  // accepted here they accept too. From then on envelope() is that one, as long as its
  // bytes are there, and known_nodes() tells where in its payload they stand. Cost: one
  // pass over what is not known.
  bool continue_with(BytesView bytes);

  const VerifiedEnvelope& envelope() const { return envelope_; }
  std::span<const KnownNode> known_nodes() const { return known_; }
  // From then on there are none.
  void forget_known_nodes();

 private:
  std::vector<std::uint8_t> head_;   // Header, manifest and code.
  std::vector<std::uint8_t> whole_;  // See is_all_of(); may be empty.
  std::vector<std::uint8_t> notes_;
  std::vector<std::uint32_t> code_uses_;  // In the payload, in order.
  std::vector<KnownNode> known_;
  VerifiedEnvelope envelope_{Envelope()};
};

}  // namespace waybill::envelope
