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
#include "parts/part_text.h"
#include "report/node_names.h"

namespace waybill {
namespace {

using envelope::position_of;
using envelope::reader_at;
using envelope::text_at;
using envelope::ValueView;
using wire::NodeTag;
using wire::TokenType;
using Steps = std::vector<Step>;

constexpr std::size_t kShownText = 60;

// Where the parts of an object stand.
struct ObjectParts {
  std::size_t state, items, pairs;
};

// The same as positions of values in a node.
constexpr ObjectParts kInObject = {position_of(NodeTag::kObject, "state"),
                                   position_of(NodeTag::kObject, "items"),
                                   position_of(NodeTag::kObject, "pairs")};
constexpr ObjectParts kInNewObject = {position_of(NodeTag::kNewObject, "state"),
                                      position_of(NodeTag::kNewObject, "items"),
                                      position_of(NodeTag::kNewObject, "pairs")};

std::optional<ObjectParts> object_parts(const ValueView& object) {
  const bool is_new = object.is(NodeTag::kNewObject);
  if (!is_new && !object.is(NodeTag::kObject)) return std::nullopt;
  const ObjectParts& in = is_new ? kInNewObject : kInObject;
  const std::vector<std::size_t> values = object.values();
  if (values.size() <= std::max({in.state, in.items, in.pairs})) return std::nullopt;
  return ObjectParts{values[in.state], values[in.items], values[in.pairs]};
}

class StepCollector {
 public:
  explicit StepCollector(const Envelope& envelope) : envelope_(envelope) {}

  Steps run(const ValueView& value) {
    if (value.is_map()) {
      add_pairs(value);
    } else if (value.is_list() || value.is(NodeTag::kTuple)) {
      add_items(value);
    } else if (const auto parts = object_parts(value)) {
      add_state(ValueView(envelope_, parts->state));
      add_items(ValueView(envelope_, parts->items));
      add_pairs(ValueView(envelope_, parts->pairs));
    }
    return std::move(steps_);
  }

 private:
  void add(Step step, std::size_t offset) {
    step.offset = ValueView(envelope_, offset).offset();
    steps_.push_back(step);
  }

  void add_items(const ValueView& list) {
    std::uint64_t index = 0;
    for (const std::size_t offset : list.values()) {
      add({.kind = Step::Kind::kIndex, .index = index++}, offset);
    }
  }

  void add_pairs(const ValueView& map) {
    const std::vector<std::size_t> values = map.values();
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      const ValueView key(envelope_, values[i]);
      add({.kind = Step::Kind::kKey,
           .index = i / 2,
           .name = key.text(),
           .key_offset = key.offset()},
          values[i + 1]);
    }
  }

  void add_state(const ValueView& state) {
    if (state.is_map()) return add_attributes(state);
    if (!state.is(NodeTag::kTuple)) return;
    const std::vector<std::size_t> both = state.values();  // Of __dict__ and of slots.
    if (both.size() != 2) return;
    for (const std::size_t offset : both) {
      const ValueView attributes(envelope_, offset);
      if (attributes.is_map()) add_attributes(attributes);
    }
  }

  void add_attributes(const ValueView& map) {
    const std::vector<std::size_t> values = map.values();
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      const ValueView name(envelope_, values[i]);
      if (name.token().type != TokenType::kText) continue;
      add({.kind = Step::Kind::kAttribute, .index = i / 2, .name = name.text()},
          values[i + 1]);
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
    const bool is_stored =
        cursor.around().tag == static_cast<std::uint8_t>(NodeTag::kStored);
    const auto number = static_cast<std::uint64_t>(cursor.token().integer);
    if (is_stored && number < envelope.buffers.size()) part.buffers.push_back(number);
  }
  std::ranges::sort(part.buffers);
  part.buffers.erase(std::unique(part.buffers.begin(), part.buffers.end()),
                     part.buffers.end());
  part.size = cursor.reader().offset() - part.offset;
  for (const std::size_t number : part.buffers) {
    part.size += envelope.buffers[number].stored_length;
  }
}

std::string leaf_type(const wire::Token& token) {
  switch (token.type) {
    case TokenType::kNil:
      return "None";
    case TokenType::kBoolean:
      return "bool";
    case TokenType::kInteger:
    case TokenType::kUnsigned:
      return "int";
    case TokenType::kReal:
      return "float";
    case TokenType::kText:
      return "str";
    case TokenType::kBinary:
      return "bytes";
    case TokenType::kMap:
      return "dict";
    case TokenType::kArray:
      return "list";
    case TokenType::kExtension:
      break;
  }
  switch (static_cast<wire::ExtType>(token.ext_type)) {
    case wire::ExtType::kInteger:
      return "int";
    case wire::ExtType::kComplex:
      return "complex";
    case wire::ExtType::kText:
      return "str";
    case wire::ExtType::kModule:
      return "module";
    default:
      return "singleton";
  }
}

}  // namespace

std::string envelope::type_of(const ValueView& value) {
  if (value.shape() == nullptr) return leaf_type(value.token());
  if (!value.is(NodeTag::kStored)) return std::string(value.shape()->name);
  const StoredBuffer* row = value.stored();
  if (row == nullptr || row->kind == wire::BufferKind::kBytes) return "bytes";
  return row->kind == wire::BufferKind::kByteArray ? "bytearray" : "memoryview";
}

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
  if (value.is(NodeTag::kObject) || value.is(NodeTag::kNewObject)) {
    std::string name = envelope::name_at({envelope}, part.offset);
    if (!name.empty()) part.type = std::move(name);
  }
  if (auto found = envelope::array_of(envelope, value, part.type)) {
    part.type = std::move(found->type);
    part.array = std::move(found->array);
    return part;
  }
  const auto items = value.items();
  part.count = items ? *items : StepCollector(envelope).run(value).size();
  const bool is_leaf = value.shape() == nullptr && !items;
  if (value.is(NodeTag::kFunction) || value.is(NodeTag::kCode)) {
    part.text = envelope::name_at({envelope}, part.offset);
  } else if (is_leaf || (part.count == 0 && !object_parts(value))) {
    part.text = text_at(envelope, part.offset, kShownText);
  }
  return part;
}

}  // namespace waybill
