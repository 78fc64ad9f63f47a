#pragma once

// msgpack as a tree that can be changed anywhere: counts and lengths are updated, and
// shared positions keep their targets. Recursive, so the depth of input is bounded.

#include <cstdint>
#include <optional>
#include <vector>

#include "waybill/bytes.h"
#include "wire/format.h"
#include "wire/reader.h"

namespace waybill::fuzz {

using Bytes = std::vector<std::uint8_t>;

struct Value {
  wire::TokenType type = wire::TokenType::kNil;
  // The original position, which identifies the targets of shared positions. Added
  // values have 0 by default, like the outermost value.
  std::uint64_t origin = 0;
  Bytes leaf;                // The bytes of a value that is not a container.
  std::vector<Value> items;  // Of a map: key, value, key, value.

  bool is_container() const {
    return type == wire::TokenType::kArray || type == wire::TokenType::kMap;
  }
};

// Parses one value; nothing if `bytes` are not one, or nest too deeply.
std::optional<Value> parse(BytesView bytes);

// A leaf with these bytes.
Value leaf_of(Bytes bytes);

// Appends the value. Keeps the numbers of references.
void write(const Value& value, Bytes& out);

// The bytes of the payload. Numbers references by first use, and replaces the origins
// in `shared` by positions.
Bytes write_payload(const Value& payload, std::vector<std::uint64_t>& shared);

// The extension's type and bytes, if the value is one.
std::optional<wire::Token> extension_in(const Value& value);

// The number of a reference, if the value is one.
std::optional<std::uint64_t> reference_in(const Value& value);

// The tag, if the value is a node with a defined one.
std::optional<wire::NodeTag> tag_in(const Value& value);

}  // namespace waybill::fuzz
