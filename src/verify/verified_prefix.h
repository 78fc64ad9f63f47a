#pragma once

// What envelopes begin with, once it was verified: header, manifest, code and
// definitions. An envelope that has the same bytes there needs no second check of them.
// Tasks of one function with different arguments share all of it.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "format/definitions.h"
#include "verify/payload_check.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

// Holds copies of it and of the debug information, 16 KiB of each at most. Not
// thread-safe.
class VerifiedPrefix {
 public:
  // Null if the envelope is signed, is too large to be kept, has no definitions, or
  // uses code behind them.
  static std::unique_ptr<VerifiedPrefix> make(const VerifiedEnvelope& envelope);

  // Whether an envelope has the same header, manifest and code.
  bool is_start_of(BytesView bytes) const;

  // Reads an envelope with this prefix up to the value of its payload, and checks its
  // digest; not those of stored buffers. False if definitions or debug information
  // differ, if the envelope is signed, or if anything outside of the value is wrong.
  // Then envelope() is this envelope, as long as the bytes live.
  bool begin(BytesView bytes);

  // The position of the object in the definitions that is the value, if these bytes are
  // those of the envelope that this was made of, and if its value is nothing else.
  std::optional<std::uint64_t> only_object(BytesView bytes) const;

  // Checks the value of the envelope that begin() read, but for a part that somebody
  // has passed over. False if it uses code, or if anything is wrong. open() and
  // verify() accept whatever begin() and this function accept. Cost: one pass over the
  // value.
  bool check_value(const PassedPart& passed = {});

  // How often the definitions use code.
  std::size_t code_uses() const { return code_uses_; }

  const VerifiedEnvelope& envelope() const { return envelope_; }

 private:
  bool begin_with_buffers(BytesView bytes);
  bool has_same_definitions() const;
  bool refers_to_objects() const;

  std::vector<std::uint8_t> prefix_;
  std::vector<std::uint8_t> rest_;  // Behind it, of an envelope with such a value.
  std::uint64_t only_object_ = 0;
  std::vector<std::uint8_t> debug_info_;
  std::vector<std::uint8_t> definitions_;  // All before the value.
  std::vector<std::uint64_t> shared_;      // Of them.
  DefinitionPlaces places_;                // The same in order.
  std::vector<std::uint64_t> objects_;     // Those in them that the value may refer to.
  std::size_t code_uses_ = 0;
  bool has_buffers_ = false;  // Of all that begin so: the count of sections says it.
  VerifiedEnvelope envelope_{Envelope()};
};

}  // namespace waybill::envelope
