#pragma once

// The definitions of a payload: functions and classes before its value. See
// docs/wire_format.md.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// Whether a payload starts like one with definitions.
bool begins_with_definitions(BytesView payload);

// Finds the definitions at the start of the payload, which should be one whole value.
// Sets envelope.definitions, empty if the payload has none. Returns false with `error`
// set if they are malformed.
// Cost: a pass over the definitions.
bool find_definitions(Envelope& envelope, Error& error);

// Positions of the reference targets of definitions, with their indices in the shared
// positions; sorted by position.
using PositionIndex = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
PositionIndex index_positions(std::span<const std::uint64_t> shared);

// Resolves the references of the value. The shared positions after those of the
// definitions belong to the value, and may repeat positions of definitions
// (`definition_index`). Gives each position one index, and sets
// definitions.value_shared. False if the value lists a position of the definitions
// twice.
bool resolve_value_references(Envelope& envelope,
                              const PositionIndex& definition_index);

// The offset of the payload's value: after the definitions, if there are any.
inline std::size_t value_offset(const Envelope& envelope) {
  return envelope.payload.offset + envelope.definitions.value;
}

// Maps the numbers of references to indices of shared positions. Definitions and the
// value number their references separately.
class ReferenceScope {
 public:
  static ReferenceScope of_definitions(const Envelope& envelope) {
    return {envelope, false};
  }
  static ReferenceScope of_value(const Envelope& envelope) {
    return {envelope, envelope.definitions.value != 0};
  }
  // The scope of a reference at a position in the payload.
  static ReferenceScope at(const Envelope& envelope, std::size_t position) {
    const std::size_t value = envelope.definitions.value;
    return {envelope, value != 0 && position >= value};
  }

  std::size_t size() const { return size_; }
  std::size_t index_of(std::uint64_t number) const {
    return indices_ == nullptr ? static_cast<std::size_t>(number) : indices_[number];
  }

 private:
  ReferenceScope(const Envelope& envelope, bool is_in_value) {
    const Definitions& definitions = envelope.definitions;
    if (is_in_value) {
      indices_ = definitions.value_shared.data();
      size_ = definitions.value_shared.size();
    } else {
      size_ = definitions.value == 0 ? envelope.shared.size() : definitions.shared;
    }
  }

  std::size_t size_ = 0;
  const std::uint32_t* indices_ = nullptr;  // Null: numbers are indices.
};

// Whether a token of the payload is a reference to a shared position; sets `number` to
// the index of the position. `origin`: the payload's offset in the token's reader.
inline bool is_reference(const Envelope& envelope, const wire::Token& token,
                         std::uint64_t& number, std::size_t origin) {
  if (!wire::is_reference(token, number)) return false;
  const auto scope = ReferenceScope::at(envelope, token.offset - origin);
  if (number >= scope.size()) return false;
  number = scope.index_of(number);
  return true;
}
inline bool is_reference(const Envelope& envelope, const wire::Token& token,
                         std::uint64_t& number) {
  return is_reference(envelope, token, number, envelope.payload.offset);
}

}  // namespace waybill::envelope
