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

  // Takes up an envelope that this is the start of: all but the payload is checked.
  // False if it has other notes, or if anything about them or the digest is wrong. From
  // then on envelope() is that one, as long as its bytes are there.
  bool take_up(BytesView bytes);

  // Checks the payload of the envelope that was taken up last; known_nodes() tells from
  // then on where in it they stand. False if it has other known nodes, or if anything
  // about it is wrong. What take_up() and this accept, open() and verify() accept too.
  // Cost: one pass over what is not known.
  bool check_payload();

  bool continue_with(BytesView bytes) { return take_up(bytes) && check_payload(); }

  // The envelope that was taken up last is sound: if its payload is a known node alone,
  // is_all_of() knows it.
  void remember_whole();

  // Whether all code of the envelope is used in known nodes alone.
  bool is_all_code_known() const;

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
