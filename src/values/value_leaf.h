#pragma once

// Leaves, the values that hold no others, in a payload; and objects of the standard
// library that are read as leaves.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waybill/value.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::envelope {

// An error without a byte offset, which the caller adds.
struct Failure {
  ErrorCode code;
  std::string detail;
};

// Reads the leaf in a token. Returns false, and leaves `leaf` as it is, for a module:
// modules are not data.
bool read_leaf(const wire::Token& token, data::Value& leaf);

// Writes a leaf in canonical form. Returns false, sets `failure` and writes nothing if
// the leaf cannot be encoded.
bool write_leaf(const data::Value& leaf, wire::Writer& out, Failure& failure);

// The object of the standard library, such as a date, a decimal or a path, that
// `callable` ("datetime.date") makes of these arguments. Nothing for other callables
// and for invalid arguments.
std::optional<data::Standard> standard_value(std::string_view callable,
                                             const std::vector<data::Value>& arguments);

// False if msgpack cannot store a length of `count` bytes or items.
bool is_countable(std::size_t count, data::Kind kind, Failure& failure);

// The problem of an invalid slice or range; null for other values.
const char* problem_of(const data::Value& value);

// Writes the start of a container of items: an array, or a node.
void write_head(data::Kind kind, std::size_t count, wire::Writer& out);

}  // namespace waybill::envelope
