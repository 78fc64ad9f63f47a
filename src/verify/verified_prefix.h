#pragma once

// The verified prefix of an envelope: header, manifest and code. An envelope that has
// the same bytes there needs no second check of them. Envelopes of one function with
// different arguments share their prefix.

#include <memory>
#include <span>
#include <vector>

#include "verify/passed_part.h"
#include "verify/reusable_nodes.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

// Holds copies of the prefix, of the debug information and of the reusable nodes, 8 KiB
// of each at most. Not thread-safe.
class VerifiedPrefix {
 public:
  // Null if the envelope is signed, or is too large to be kept.
  static std::unique_ptr<VerifiedPrefix> make(const VerifiedEnvelope& envelope);

  // Whether an envelope starts with this prefix.
  bool is_start_of(BytesView bytes) const;

  // Whether an envelope is equal, byte for byte, to the last for which
  // remember_whole() was called.
  bool is_all_of(BytesView bytes) const;

  // Reads an envelope with this prefix up to its payload, and checks its digest; not
  // those of stored buffers. False if the debug information differs, if the envelope is
  // signed, or if anything outside of the payload is wrong. Then envelope() is this
  // envelope, as long as the bytes live.
  bool begin(BytesView bytes);

  // Checks the payload of the envelope that begin() read, and sets where its reusable
  // nodes start. False if it has other reusable nodes, or if anything is wrong. open()
  // and verify() accept whatever begin() and this function accept. Cost: one pass over
  // the payload, without the reusable nodes and the part that was passed over already.
  bool check_payload(const PassedPart& passed = {});

  bool continue_with(BytesView bytes) { return begin(bytes) && check_payload(); }

  // The caller has checked the payload of the envelope that begin() read. If it is one
  // reusable node, is_all_of() recognises the envelope from now on.
  void remember_whole();

  // Whether all code of the envelope is used in reusable nodes.
  bool is_all_code_reusable() const;

  const VerifiedEnvelope& envelope() const { return envelope_; }
  std::span<const ReusableNode> reusable_nodes() const { return nodes_; }
  // After this call there are none.
  void forget_reusable_nodes();

 private:
  bool begin_with_buffers(BytesView bytes);

  std::vector<std::uint8_t> prefix_;
  std::vector<std::uint8_t> whole_;  // See is_all_of(); may be empty.
  std::vector<std::uint8_t> debug_info_;
  std::vector<std::uint32_t> code_uses_;  // In the payload, in order.
  std::vector<ReusableNode> nodes_;
  bool has_buffers_ = false;  // Of all that begin so: the count of sections says it.
  VerifiedEnvelope envelope_{Envelope()};
};

}  // namespace waybill::envelope
