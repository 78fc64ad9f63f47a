#pragma once

// Finds objects of a payload that are values of class attributes and are referred to
// from elsewhere in the payload. A receiver that has the class may have another object
// in that attribute. Such references then refer to the receiver's object.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "waybill/bytes.h"
#include "waybill/envelope.h"

namespace waybill::envelope {

// An object that is the value of an attribute, and one place where it stands. The views
// point into the payload.
struct AttributeTarget {
  std::uint64_t number;    // The number that references to it have.
  BytesView class_id;      // The id of the class.
  std::string_view name;   // The name of the attribute.
  bool is_entry = false;   // It is a value in the dict that the attribute holds.
  std::string_view key{};  // The key of that value.
  std::size_t end = 0;     // The end of the object, from the start of the payload.
};

// The targets of an envelope, sorted by number: of each object all places, in their
// order. Names, classes, text and bytes are left out: they are the same in every place.
// Objects that share parts with the payload outside are left out too, since another
// object would not share them; parts with an identity of their own, such as classes, do
// not count. Cost: a pass over the payload, and time for each reference.
std::vector<AttributeTarget> find_attribute_targets(const VerifiedEnvelope& envelope);

}  // namespace waybill::envelope
