// What a value is and what it holds, by the tags of its nodes.
//
// Objects hold what __reduce_ex__ gave for them: attributes, which are the keys of a
// state that is a dict (or of the two dicts of an object with slots), items and pairs.
// Tested by tests/parts/parts_test.cpp and tests/python/api/test_open.py.

#include "waybill/parts.h"

#include <algorithm>
#include <utility>

#include "format/payload_cursor.h"
#include "format/value_view.h"
#include "parts/array_kinds.h"
#include "report/value_text.h"

namespace waybill {
namespace {

using envelope::position_of;
using envelope::reader_at;
using envelope::ValueView;
using wire::NodeTag;
using Steps = std::vector<Step>;

constexpr std::size_t kShownText = 60;

class StepCollector {
 public:
  explicit StepCollector(const Envelope& envelope) : envelope_(envelope) {}

  Steps run(const ValueView& value) {
    if (value.is_map()) {
      add_pairs(value, Step::Kind::kKey);
    } else if (value.is_list() || value.is(NodeTag::kTuple)) {
      add_items(value);
    } else if (value.is_object()) {
      add_object(value);
    }
    return std::move(steps_);
  }

 private:
  void add(Step step, std::size_t offset) {
    step.offset = ValueView(envelope_, offset).offset();
    steps_.push_back(step);
  }

  // Items and pairs follow the state.
  void add_object(const ValueView& object) {
    const std::vector<std::size_t> parts = object.values();
    const std::size_t state = object.is(NodeTag::kObject)
                                  ? position_of(NodeTag::kObject, "state")
                                  : position_of(NodeTag::kNewObject, "state");
    if (parts.size() < state + 3) return;
    add_state(ValueView(envelope_, parts[state]));
    add_items(ValueView(envelope_, parts[state + 1]));
    add_pairs(ValueView(envelope_, parts[state + 2]), Step::Kind::kKey);
  }

  void add_items(const ValueView& list) {
    std::uint64_t index = 0;
    for (const std::size_t offset : list.values()) {
      add({.kind = Step::Kind::kIndex, .index = index++}, offset);
    }
  }

  // Attributes have names; keys may be anything.
  void add_pairs(const ValueView& map, Step::Kind kind) {
    const std::vector<std::size_t> values = map.values();
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      const ValueView key(envelope_, values[i]);
      const bool is_key = kind == Step::Kind::kKey;
      if (!is_key && !key.is_text()) continue;
      add({.kind = kind,
           .index = i / 2,
           .name = key.text(),
           .key_offset = is_key ? key.offset() : 0},
          values[i + 1]);
    }
  }

  void add_state(const ValueView& state) {
    if (state.is_map()) return add_pairs(state, Step::Kind::kAttribute);
    if (!state.is(NodeTag::kTuple)) return;
    const std::vector<std::size_t> both = state.values();  // Of __dict__ and of slots.
    if (both.size() != 2) return;
    for (const std::size_t offset : both) {
      const ValueView attributes(envelope_, offset);
      if (attributes.is_map()) add_pairs(attributes, Step::Kind::kAttribute);
    }
  }

  const Envelope& envelope_;
  Steps steps_;
};

// Bytes of the value in the head, and of the buffers that it uses.
void measure(const Envelope& envelope, Part& part) {
  envelope::PayloadCursor<> cursor(reader_at(envelope, part.offset));
  while (cursor.next()) {
    if (cursor.event() != envelope::CursorEvent::kLeaf) continue;
    const auto [kind, number] = envelope::target_of(envelope, cursor.token(),
                                                    cursor.rule(), cursor.around().tag);
    if (kind == envelope::LeafTarget::Kind::kBuffer) part.buffers.push_back(number);
  }
  std::ranges::sort(part.buffers);
  part.buffers.erase(std::unique(part.buffers.begin(), part.buffers.end()),
                     part.buffers.end());
  part.size = cursor.reader().offset() - part.offset;
  for (const std::size_t number : part.buffers) {
    part.size += envelope.buffers[number].stored_length;
  }
}

}  // namespace

std::size_t root_of(const VerifiedEnvelope& envelope) {
  return ValueView(*envelope, envelope->payload.offset).offset();
}

Steps steps_from(const VerifiedEnvelope& envelope, std::size_t offset) {
  return StepCollector(*envelope).run(ValueView(*envelope, offset));
}

Part describe_part(const VerifiedEnvelope& verified, std::size_t offset) {
  const Envelope& envelope = *verified;
  const ValueView value(envelope, offset);
  Part part;
  part.offset = value.offset();
  measure(envelope, part);
  part.type = envelope::type_of(value);
  if (value.is_object()) {
    std::string name = envelope::name_of(value);
    if (!name.empty()) part.type = std::move(name);
  }
  if (auto found = envelope::array_of(value, part.type)) {
    part.type = std::move(found->type);
    part.array = std::move(found->array);
    return part;
  }
  const auto items = value.items();
  part.count = items ? *items : StepCollector(envelope).run(value).size();
  const bool is_leaf = value.shape() == nullptr && !items;
  if (value.is(NodeTag::kFunction) || value.is(NodeTag::kCode)) {
    part.text = envelope::name_of(value);
  } else if (is_leaf || (part.count == 0 && !value.is_object())) {
    part.text = envelope::value_text(value, kShownText);
  }
  return part;
}

}  // namespace waybill
