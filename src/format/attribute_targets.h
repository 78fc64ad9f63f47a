#pragma once

// Which objects of a payload are values of class attributes and are referred to from
// elsewhere in the payload. A receiver that has the class already may have another
// object in that place, which such references then mean.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

// One such object. All views are into the payload.
struct AttributeTarget {
  std::uint64_t number;    // Of the references to it.
  BytesView class_id;      // Of the class.
  std::string_view name;   // Of the attribute.
  bool is_entry = false;   // A value in the dict that is the attribute's value,
  std::string_view key{};  // under this key.
  std::size_t end = 0;     // Of the object, from the start of the payload.
};

// The targets of an envelope, by number, each once at most.
// Left out are names, classes, text and bytes, which are the same wherever they stand,
// and what shares objects with the payload outside of it, but for what keeps
// its identity by itself, as classes do: another object in its place would not have the
// same parts. Cost: a pass over the payload, and time by references.
std::vector<AttributeTarget> find_attribute_targets(const VerifiedEnvelope& envelope);

}  // namespace waybill::envelope
