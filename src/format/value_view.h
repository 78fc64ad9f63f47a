#pragma once

// One value of a payload, by its offset, and where the values in it stand. The payload
// need not be sound.

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

// Of what stands around a value or before its name, one in the other: more than
// programs write, since a node may hold itself.
inline constexpr int kMostHops = 8;

class ValueView {
 public:
  // Of a reference, the value that it means; of a node kIdentified, the value in it; of
  // a payload with definitions, the value behind them;
  // where there are more of them in a row than programs write, one of them. Where no
  // value starts it is some value or nil. The envelope must outlive the view.
  ValueView(const Envelope& envelope, std::size_t offset);
  // What stands there itself, if that is a reference or a node kIdentified.
  static ValueView at(const Envelope& envelope, std::size_t offset);

  const Envelope& envelope() const { return envelope_; }
  std::size_t offset() const { return token_.offset; }
  const wire::Token& token() const { return token_; }
  bool is(wire::NodeTag tag) const { return tag_ == static_cast<std::uint8_t>(tag); }
  bool is_map() const { return token_.type == wire::TokenType::kMap; }
  bool is_list() const { return token_.type == wire::TokenType::kArray && tag_ == 0; }
  bool is_text() const { return token_.type == wire::TokenType::kText; }
  // What a call makes.
  bool is_object() const {
    return is(wire::NodeTag::kObject) || is(wire::NodeTag::kNewObject);
  }
  // Of a node; else null.
  const Shape* shape() const { return tag_ == 0 ? nullptr : shape_of(tag_); }

  // Behind the value's first token and the tag of a node: at the first value in it.
  wire::Reader behind() const { return reader_; }
  // Where the values directly in it stand, without a node's tag; keys and values of a
  // map in turn. Cost: by all that it holds.
  std::vector<std::size_t> values() const;
  // The place of one of them; the end of the payload if it has not so many. Cost: by
  // what stands before it.
  std::size_t value(std::size_t index) const;

  // What stands there, or is referred to.
  ValueView part(std::size_t index) const { return {envelope_, value(index)}; }

  // What the payload has there; empty for what it is not.
  std::string_view text() const;
  std::optional<std::uint64_t> number() const;
  bool is_true() const;
  // Items, or pairs, of a container of plain data; nothing for what is none.
  std::optional<std::uint64_t> items() const;
  // Of a function or code node, an index into the code of the envelope; SIZE_MAX if it
  // has none.
  std::size_t code_index() const;
  // What a node kStored means; null for what is none.
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

// What a leaf stands for that is elsewhere in the envelope.
struct LeafTarget {
  enum class Kind : std::uint8_t { kNone, kValue, kModule, kCode, kBuffer };
  Kind kind = Kind::kNone;
  std::size_t number = 0;  // In the shared positions, imports, code bodies or buffers.
};
// `rule` and `node`: of the leaf, and the tag of the node around it or 0.
LeafTarget target_of(const Envelope& envelope, const wire::Token& token, Rule rule,
                     std::uint8_t node);

// What references with a number mean.
struct SharedPlace {
  std::size_t offset;
  std::size_t number;
};
// In the order of the payload. Who made the envelope chose the offsets, so places are
// in order and not hashed.
std::vector<SharedPlace> shared_places(const Envelope& envelope);
// Those at one offset: one at most, but in hostile payloads.
std::span<const SharedPlace> places_at(const std::vector<SharedPlace>& places,
                                       std::size_t offset);

// A reader that stands at this offset; at the end of the payload if it is outside.
wire::Reader reader_at(const Envelope& envelope, std::size_t offset);

}  // namespace waybill::envelope
