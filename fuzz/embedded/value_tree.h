#pragma once

// msgpack as a tree that can be changed anywhere: counts and lengths follow, and shared
// positions lead to what they led to. For mutators; not for input of any depth.

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
  // Where it stood; shared positions know it by that. 0 for what has come new, which
  // can be the first byte's only by name.
  std::uint64_t origin = 0;
  Bytes leaf;                // All of it, unless it holds others.
  std::vector<Value> items;  // Of a map: key, value, key, value.

  bool is_container() const {
    return type == wire::TokenType::kArray || type == wire::TokenType::kMap;
  }
};

// The one value that `bytes` are; nothing if they are not, or nest too deeply.
std::optional<Value> parse(BytesView bytes);

// A leaf, from its bytes.
Value leaf_of(Bytes bytes);

// Appends the value. Without shared positions: the numbers of references stay.
void write(const Value& value, Bytes& out);

// The payload as bytes. References are numbered anew, by first use, and `shared`, which
// holds origins, becomes their positions.
Bytes write_payload(const Value& payload, std::vector<std::uint64_t>& shared);

// The extension's type and bytes, if the value is one.
std::optional<wire::Token> extension_in(const Value& value);

// The number of a reference, if the value is one.
std::optional<std::uint64_t> reference_in(const Value& value);

// The tag, if the value is a node with one of those known.
std::optional<wire::NodeTag> tag_in(const Value& value);

}  // namespace waybill::fuzz
