#pragma once

// The definitions of a payload: functions and classes that stand before its value. See
// docs/wire_format.md.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// Whether a payload begins as one with definitions does.
bool begins_with_definitions(BytesView payload);

// Finds the definitions at the start of the payload, which is one whole value or what
// is taken for one. Sets envelope.definitions; leaves them empty where the payload has
// none. False when they are malformed, with the error in `error`.
// Cost: a pass over the definitions.
bool find_definitions(Envelope& envelope, Error& error);

// Where the objects stand that references in definitions mean, and their numbers; in
// order.
using DefinitionPlaces = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
DefinitionPlaces places_in_definitions(std::span<const std::uint64_t> shared);

// Of an envelope with the definitions of another, `known`: gives each position that the
// shared ones list one place, and the references in the value those of what they mean.
// False if the value is said to mean a place of the definitions twice.
bool set_value_places(Envelope& envelope, const DefinitionPlaces& known);

// Where the value of the payload stands: behind the definitions, if there are any.
inline std::size_t value_offset(const Envelope& envelope) {
  return envelope.payload.offset + envelope.definitions.value;
}

// The references that stand in a definition, or in the value: how many numbers they
// have, and the place of each among the shared positions.
class ReferenceScope {
 public:
  static ReferenceScope of_definitions(const Envelope& envelope) {
    return {envelope, false};
  }
  static ReferenceScope of_value(const Envelope& envelope) {
    return {envelope, envelope.definitions.value != 0};
  }
  // Of references at a position in the payload.
  static ReferenceScope at(const Envelope& envelope, std::size_t position) {
    const std::size_t value = envelope.definitions.value;
    return {envelope, value != 0 && position >= value};
  }

  std::size_t size() const { return size_; }
  std::size_t place_of(std::uint64_t number) const {
    return places_ == nullptr ? static_cast<std::size_t>(number) : places_[number];
  }

 private:
  ReferenceScope(const Envelope& envelope, bool is_behind_definitions) {
    const Definitions& definitions = envelope.definitions;
    if (is_behind_definitions) {
      places_ = definitions.value_shared.data();
      size_ = definitions.value_shared.size();
    } else {
      size_ = definitions.value == 0 ? envelope.shared.size() : definitions.shared;
    }
  }

  std::size_t size_ = 0;
  const std::uint32_t* places_ = nullptr;  // Null: numbers are places.
};

// Whether a token of the payload is a reference to what the envelope lists; then
// `number` is its place among the shared positions. `origin`: the offset of the
// payload, as the token counts.
inline bool is_reference(const Envelope& envelope, const wire::Token& token,
                         std::uint64_t& number, std::size_t origin) {
  if (!wire::is_reference(token, number)) return false;
  const auto scope = ReferenceScope::at(envelope, token.offset - origin);
  if (number >= scope.size()) return false;
  number = scope.place_of(number);
  return true;
}
inline bool is_reference(const Envelope& envelope, const wire::Token& token,
                         std::uint64_t& number) {
  return is_reference(envelope, token, number, envelope.payload.offset);
}

}  // namespace waybill::envelope
