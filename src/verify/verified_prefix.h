#pragma once

// The verified start of an envelope: header, manifest, code and definitions. Another
// envelope with the same bytes there needs no second check of them. Tasks of one
// function with different arguments share all of it.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "format/definitions.h"
#include "verify/payload_check.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

// Holds copies of the prefix and of the debug information, at most 16 KiB of each. Not
// thread-safe.
class VerifiedPrefix {
 public:
  // Null if the envelope is signed, is too large, has no definitions, or has a value
  // that uses code.
  static std::unique_ptr<VerifiedPrefix> make(const VerifiedEnvelope& envelope);

  // Whether an envelope starts with the same header, manifest and code; if it has no
  // code, which is what tells most envelopes apart, also whether its definitions are
  // the same.
  bool is_start_of(BytesView bytes) const;

  // Reads an envelope with this prefix up to the value of its payload, and checks its
  // digest, but not those of stored buffers. False if definitions or debug information
  // differ, if the envelope is signed, or if anything outside of the value is invalid.
  // On success envelope() is this envelope, valid as long as the bytes.
  bool begin(BytesView bytes);

  // The position in the definitions of the object that the value refers to, if the
  // value is only a reference and `bytes` equal the envelope that this was made of.
  std::optional<std::uint64_t> only_object(BytesView bytes) const;

  // Checks the value of the envelope that begin() read, except for a part that the
  // caller has checked. False if the value uses code or is invalid. open() and verify()
  // accept every envelope that begin() and check_value() accept. Cost: one pass over
  // the value.
  bool check_value(const CheckedPart& checked = {});

  // The number of uses of code in the definitions.
  std::size_t code_uses() const { return code_uses_; }

  const VerifiedEnvelope& envelope() const { return envelope_; }

 private:
  bool has_same_definitions() const;
  bool refers_to_objects() const;

  std::vector<std::uint8_t> prefix_;
  std::vector<std::uint8_t> after_prefix_;  // For only_object().
  std::uint64_t only_object_ = 0;
  std::vector<std::uint8_t> debug_info_;
  std::vector<std::uint8_t> definitions_;     // All of the payload before the value.
  std::vector<std::uint64_t> shared_;         // Shared positions of the definitions.
  PositionIndex position_index_;              // Index of shared_.
  std::vector<std::uint64_t> object_starts_;  // Positions that the value may refer to.
  std::size_t code_uses_ = 0;
  bool has_buffers_ = false;  // Equal for all envelopes with this prefix.
  VerifiedEnvelope envelope_{Envelope()};
};

}  // namespace waybill::envelope
