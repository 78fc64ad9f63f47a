#pragma once

// One value of a payload, by its offset, and the offsets of the values in it. The
// payload need not be verified.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/shapes.h"
#include "waybill/envelope.h"
#include "wire/reader.h"

namespace waybill::envelope {

// The most references and wrappers followed from one value. Programs write fewer; the
// bound ends the walk at a node that contains itself.
inline constexpr int kMaxHops = 8;

class ValueView {
 public:
  // The value at an offset. References are followed to their target, a node kIdentified
  // to its value, and a payload with definitions to its value, kMaxHops times at most.
  // Where no value starts, it is an arbitrary value or nil. The envelope must outlive
  // the view.
  ValueView(const Envelope& envelope, std::size_t offset);
  // The value at an offset itself, even if it is a reference or a node kIdentified.
  static ValueView at(const Envelope& envelope, std::size_t offset);

  const Envelope& envelope() const { return envelope_; }
  std::size_t offset() const { return token_.offset; }
  const wire::Token& token() const { return token_; }
  bool is(wire::NodeTag tag) const { return tag_ == static_cast<std::uint8_t>(tag); }
  bool is_map() const { return token_.type == wire::TokenType::kMap; }
  bool is_list() const { return token_.type == wire::TokenType::kArray && tag_ == 0; }
  bool is_text() const { return token_.type == wire::TokenType::kText; }
  // Whether a call builds it.
  bool is_object() const {
    return is(wire::NodeTag::kObject) || is(wire::NodeTag::kNewObject);
  }
  // The shape of a node; null for other values.
  const Shape* shape() const { return tag_ == 0 ? nullptr : shape_of(tag_); }

  // A reader after the value's first token, and after the tag of a node: at the first
  // value inside.
  wire::Reader reader_inside() const { return reader_; }
  // The offsets of the values directly in it, without a node's tag; keys and values of
  // a map alternate. Cost: linear in its size.
  std::vector<std::size_t> values() const;
  // The offset of the value at `index` directly in it; the end of the payload if there
  // are fewer. Cost: linear in the size of the values before that one.
  std::size_t value(std::size_t index) const;

  // The value at `index` directly in it, with references followed.
  ValueView part(std::size_t index) const { return {envelope_, value(index)}; }

  // The content; empty for other types.
  std::string_view text() const;
  std::optional<std::uint64_t> number() const;
  bool is_true() const;
  // The number of items, or pairs, of a container of plain data; nullopt for other
  // values.
  std::optional<std::uint64_t> items() const;
  // The index of the code of a function or code node; SIZE_MAX if it has none.
  std::size_t code_index() const;
  // The buffer of a node kStored; null for other values.
  const StoredBuffer* stored() const;

 private:
  ValueView(const Envelope& envelope, wire::Reader reader)
      : envelope_(envelope), reader_(reader) {}
  void read(std::size_t offset);
  std::uint64_t count() const;

  const Envelope& envelope_;
  wire::Reader reader_;
  wire::Token token_{};
  std::uint8_t tag_ = 0;
};

// The target of a leaf that refers to another part of the envelope.
struct LeafTarget {
  enum class Kind : std::uint8_t { kNone, kValue, kModule, kCode, kBuffer };
  Kind kind = Kind::kNone;
  std::size_t number = 0;  // In the shared positions, imports, code bodies or buffers.
};
// `rule` is the rule of the leaf, `node` the tag of the enclosing node, or 0.
LeafTarget target_of(const Envelope& envelope, const wire::Token& token, Rule rule,
                     std::uint8_t node);

// A reference target and its number.
struct SharedPlace {
  std::size_t offset;
  std::size_t number;
};
// All targets, sorted by offset. Not hashed: an attacker can choose offsets that
// collide.
std::vector<SharedPlace> shared_places(const Envelope& envelope);
// The targets at an offset: at most one, except in hostile payloads.
std::span<const SharedPlace> places_at(const std::vector<SharedPlace>& places,
                                       std::size_t offset);

// A reader at this offset; at the end of the payload if it is outside.
wire::Reader reader_at(const Envelope& envelope, std::size_t offset);

}  // namespace waybill::envelope
