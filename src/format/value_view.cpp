// Tested by tests/parts/parts_test.cpp and tests/explain/explain_payload_test.cpp.

#include "format/value_view.h"

#include <algorithm>

#include "format/definitions.h"

namespace waybill::envelope {

using wire::NodeTag;
using wire::Reader;
using wire::TokenType;

Reader reader_at(const Envelope& envelope, std::size_t offset) {
  const Section& payload = envelope.payload;
  const std::size_t size = payload.bytes.size();
  // An offset before the payload wraps around, and is clamped.
  const std::size_t start = std::min(offset - payload.offset, size);
  return Reader(payload.bytes.subspan(start), Limits{}, payload.offset + start);
}

LeafTarget target_of(const Envelope& envelope, const wire::Token& token, Rule rule,
                     std::uint8_t node) {
  using enum LeafTarget::Kind;
  std::uint64_t number = 0;
  const auto found = [&](LeafTarget::Kind kind, std::size_t count) {
    return number < count ? LeafTarget{kind, number} : LeafTarget{};
  };
  if (is_reference(envelope, token, number)) return {kValue, number};
  if (token.is(wire::ExtType::kModule)) {
    return wire::index_of(token.bytes, number)
               ? found(kModule, envelope.manifest.imports.size())
               : LeafTarget{};
  }
  if (token.type != TokenType::kInteger || token.integer < 0) return {};
  number = static_cast<std::uint64_t>(token.integer);
  if (rule == Rule::kCodeIndex) return found(kCode, envelope.code.size());
  const bool is_stored = node == static_cast<std::uint8_t>(NodeTag::kStored);
  return is_stored ? found(kBuffer, envelope.buffers.size()) : LeafTarget{};
}

std::vector<SharedPlace> shared_places(const Envelope& envelope) {
  std::vector<SharedPlace> places;
  places.reserve(envelope.shared.size());
  for (const std::uint64_t position : envelope.shared) {
    places.push_back({envelope.payload.offset + position, places.size()});
  }
  std::ranges::stable_sort(places, {}, &SharedPlace::offset);
  return places;
}

std::span<const SharedPlace> places_at(const std::vector<SharedPlace>& places,
                                       std::size_t offset) {
  const auto first = std::ranges::lower_bound(places, offset, {}, &SharedPlace::offset);
  auto last = first;
  while (last != places.end() && last->offset == offset) ++last;
  return {first, last};
}

ValueView::ValueView(const Envelope& envelope, std::size_t offset)
    : ValueView(at(envelope, offset)) {
  for (int step = 0; step < kMaxHops; ++step) {
    std::uint64_t number = 0;
    if (is_reference(envelope, token_, number)) {
      read(envelope.payload.offset + envelope.shared[number]);
    } else if (is(NodeTag::kDefinitions)) {
      read(value_offset(envelope));
    } else if (is(NodeTag::kIdentified) && reader_.skip()) {
      read(reader_.offset());
    } else {
      return;
    }
  }
}

ValueView ValueView::at(const Envelope& envelope, std::size_t offset) {
  ValueView view(envelope, reader_at(envelope, offset));
  view.read(offset);
  return view;
}

void ValueView::read(std::size_t offset) {
  reader_ = reader_at(envelope_, offset);
  tag_ = 0;
  token_ = {};
  token_.offset = reader_.offset();
  if (!reader_.next(token_)) return;
  if (token_.type == TokenType::kArray && token_.count != 0)
    reader_.read_node_tag(tag_);
}

std::uint64_t ValueView::count() const {
  if (is_map()) return token_.count * 2;
  if (token_.type != TokenType::kArray) return 0;
  return token_.count - (tag_ == 0 ? 0 : 1);
}

std::vector<std::size_t> ValueView::values() const {
  std::vector<std::size_t> offsets;
  std::uint64_t count = this->count();
  Reader reader = reader_;
  for (; count != 0; --count) {
    offsets.push_back(reader.offset());
    if (!reader.skip()) break;
  }
  return offsets;
}

std::size_t ValueView::value(std::size_t index) const {
  Reader reader = reader_;
  bool is_found = index < count();
  for (; is_found && index != 0; --index) is_found = reader.skip();
  const Section& payload = envelope_.payload;
  return is_found ? reader.offset() : payload.offset + payload.bytes.size();
}

std::string_view ValueView::text() const {
  return is_text() ? token_.text() : std::string_view();
}

std::optional<std::uint64_t> ValueView::number() const {
  if (token_.type != TokenType::kInteger || token_.integer < 0) return std::nullopt;
  return static_cast<std::uint64_t>(token_.integer);
}

bool ValueView::is_true() const {
  return token_.type == TokenType::kBoolean && token_.integer != 0;
}

std::optional<std::uint64_t> ValueView::items() const {
  if (is_map() || is_list()) return token_.count;
  if (is(NodeTag::kTuple) || is(NodeTag::kSet) || is(NodeTag::kFrozenSet)) {
    return token_.count - 1;
  }
  return std::nullopt;
}

std::size_t ValueView::code_index() const {
  std::uint64_t index = 0;
  Reader reader = reader_;
  const bool is_found = uses_code(tag_) && count() != 0 &&
                        reader.read_unsigned(index, UINT32_MAX, "a code index");
  return is_found && index < envelope_.code.size() ? index : SIZE_MAX;
}

const StoredBuffer* ValueView::stored() const {
  if (!is(NodeTag::kStored)) return nullptr;
  const std::uint64_t number = part(0).number().value_or(SIZE_MAX);
  return number < envelope_.buffers.size() ? &envelope_.buffers[number] : nullptr;
}

}  // namespace waybill::envelope
