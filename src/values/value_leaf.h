#pragma once

// Values that hold no others, as a payload has them; and objects that are such at
// heart.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/value.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::envelope {

// Why something cannot be written.
struct Objection {
  ErrorCode code;
  std::string detail;
};

// Makes the leaf that a token is. False, with nothing made, for what is no data: a
// module.
bool read_leaf(const wire::Token& token, data::Value& leaf);

// Writes a leaf in canonical form. False, with nothing written, if it cannot be.
bool write_leaf(const data::Value& leaf, wire::Writer& out, Objection& objection);

// The object of the standard library, such as a date, a decimal or a path, that calling
// the global `callable` ("datetime.date") with these arguments makes. Nothing for what
// is none of those, or is no sound one.
std::optional<data::Standard> standard_value(std::string_view callable,
                                             const std::vector<data::Value>& arguments);

// False if so many bytes or items are more than msgpack can count.
bool is_countable(std::size_t count, data::Kind kind, Objection& objection);

// What is wrong with a slice or range; null if nothing is, or if it is neither.
const char* problem_of(const data::Value& value);

// The start of a container of items: an array, or a node.
void write_head(data::Kind kind, std::size_t count, wire::Writer& out);

}  // namespace waybill::envelope
