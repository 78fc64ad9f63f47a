// What a value is and what it holds, by the tags of its nodes.
//
// Objects hold what __reduce_ex__ gave for them: attributes, which are the keys of a
// state that is a dict (or of the two dicts of an object with slots), items and pairs.
// Tested by tests/parts/parts_test.cpp and tests/python/api/test_open.py.

#include "waybill/parts.h"

#include <algorithm>
#include <utility>

#include "format/payload_cursor.h"
#include "parts/array_kinds.h"
#include "parts/value_view.h"
#include "report/value_text.h"
#include "text/format_text.h"
#include "values/node_words.h"

namespace waybill {
namespace {

using envelope::position_of;
using envelope::reader_at;
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
std::uint64_t size_at(const Envelope& envelope, std::size_t offset) {
  envelope::PayloadCursor<> cursor(reader_at(envelope, offset));
  std::uint64_t stored = 0;
  while (cursor.next()) {
    if (cursor.event() != envelope::CursorEvent::kLeaf) continue;
    const bool is_stored =
        cursor.around().tag == static_cast<std::uint8_t>(NodeTag::kStored);
    const auto number = static_cast<std::uint64_t>(cursor.token().integer);
    if (is_stored && number < envelope.buffers.size()) {
      stored += envelope.buffers[number].stored_length;
    }
  }
  return cursor.reader().offset() - offset + stored;
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

std::string stored_type(const Envelope& envelope, const ValueView& value) {
  const auto number = ValueView(envelope, value.values()[0]).number();
  switch (number ? envelope.buffers[*number].kind : wire::BufferKind::kBytes) {
    case wire::BufferKind::kBytes:
      return "bytes";
    case wire::BufferKind::kByteArray:
      return "bytearray";
    default:
      return "memoryview";
  }
}

std::uint64_t count_of(const Envelope& envelope, const ValueView& value) {
  if (value.is_map() || value.is_list()) return value.token().count;
  if (value.is(NodeTag::kTuple) || value.is(NodeTag::kSet) ||
      value.is(NodeTag::kFrozenSet)) {
    return value.token().count - 1;
  }
  return StepCollector(envelope).run(value).size();
}

// The pieces of a path, one by one.
class PathReader {
 public:
  explicit PathReader(std::string_view path) : path_(path) {}

  bool at_end() const { return at_ == path_.size(); }
  std::size_t at() const { return at_; }

  // False if no step is next. `is_attribute`: what was ".text"; else "[text]", where
  // `is_quoted` says whether the text stood in quotes.
  bool next(std::string_view& text, bool& is_attribute, bool& is_quoted) {
    is_quoted = false;
    is_attribute = path_[at_] == '.';
    if (is_attribute) {
      const std::size_t end =
          std::min(path_.find_first_of(".[", at_ + 1), path_.size());
      text = path_.substr(at_ + 1, end - at_ - 1);
      at_ = end;
      return !text.empty();
    }
    if (path_[at_] != '[') return false;
    const char quote = at_ + 1 < path_.size() ? path_[at_ + 1] : '\0';
    is_quoted = quote == '\'' || quote == '"';
    const std::size_t start = at_ + (is_quoted ? 2 : 1);
    const std::size_t end =
        is_quoted ? end_of_quoted(start, quote) : end_of_bare(start);
    const std::size_t close = is_quoted ? end + 1 : end;
    if (close >= path_.size() || path_[close] != ']') return false;
    text = path_.substr(start, end - start);
    at_ = close + 1;
    return is_quoted || !text.empty();
  }

 private:
  std::size_t end_of_quoted(std::size_t at, char quote) const {
    for (; at < path_.size() && path_[at] != quote; ++at) {
      if (path_[at] == '\\') ++at;
    }
    return at;
  }
  // Of a key that may hold brackets of its own, such as b'[' and ([1], 2).
  std::size_t end_of_bare(std::size_t at) const {
    for (std::size_t depth = 0; at < path_.size(); ++at) {
      const char byte = path_[at];
      if (byte == '\'' || byte == '"') {
        at = end_of_quoted(at + 1, byte);
      } else if (byte == '[') {
        ++depth;
      } else if (byte == ']' && depth-- == 0) {
        break;
      }
    }
    return at;
  }

  std::string_view path_;
  std::size_t at_ = 0;
};

// A value that has no code in it, as Python would write it.
std::string text_at(const Envelope& envelope, std::size_t offset, std::size_t most) {
  envelope::ValueNames names;
  names.manifest = &envelope.manifest;
  names.buffers = envelope.buffers;
  return envelope::value_text(reader_at(envelope, offset), names, most);
}

std::string key_text(const Envelope& envelope, std::size_t offset) {
  return text_at(envelope, offset, envelope.bytes.size());
}

bool is_step(const Envelope& envelope, const Step& step, std::string_view text,
             bool is_attribute, bool is_quoted) {
  switch (step.kind) {
    case Step::Kind::kAttribute:
      return is_attribute && step.name == text;
    case Step::Kind::kIndex:
      return !is_attribute && !is_quoted && std::to_string(step.index) == text;
    case Step::Kind::kKey:
      break;
  }
  if (is_attribute) return false;
  if (!is_quoted) return key_text(envelope, step.key_offset) == text;
  if (step.name.data() == nullptr) {  // It may be a text with lone surrogates.
    return key_text(envelope, step.key_offset) == "'" + std::string(text) + "'";
  }
  return step.name == text || envelope::escaped(step.name, false) == text;
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
  part.size = size_at(envelope, part.offset);
  const envelope::Shape* shape = value.shape();
  if (shape == nullptr) {
    part.type = leaf_type(value.token());
  } else if (value.is(NodeTag::kObject) || value.is(NodeTag::kNewObject)) {
    part.type = envelope::name_at(envelope, part.offset);
    if (part.type.empty()) part.type = shape->name;
    if (value.is(NodeTag::kObject)) {
      if (auto found = envelope::array_of(envelope, value, part.type)) {
        part.type = std::move(found->type);
        part.array = std::move(found->array);
        return part;
      }
    }
  } else {
    part.type = value.is(NodeTag::kStored) ? stored_type(envelope, value)
                                           : std::string(shape->name);
  }
  part.count = count_of(envelope, value);
  const bool is_leaf = shape == nullptr && !value.is_map() && !value.is_list();
  if (value.is(NodeTag::kFunction) || value.is(NodeTag::kCode)) {
    part.text = envelope::name_at(envelope, part.offset);
  } else if (is_leaf || (part.count == 0 && !object_parts(value))) {
    part.text = text_at(envelope, part.offset, kShownText);
  }
  return part;
}

std::string step_text(const VerifiedEnvelope& envelope, const Step& step) {
  switch (step.kind) {
    case Step::Kind::kAttribute:
      return "." + std::string(step.name);
    case Step::Kind::kIndex:
      return "[" + std::to_string(step.index) + "]";
    case Step::Kind::kKey:
      break;
  }
  if (step.name.data() == nullptr) {
    return "[" + key_text(*envelope, step.key_offset) + "]";
  }
  return "['" + envelope::escaped(step.name, false) + "']";
}

Result<std::size_t> find_part(const VerifiedEnvelope& envelope, std::string_view path) {
  std::size_t offset = root_of(envelope);
  PathReader reader(path);
  while (!reader.at_end()) {
    const std::size_t start = reader.at();
    std::string_view text;
    bool is_attribute = false;
    bool is_quoted = false;
    if (!reader.next(text, is_attribute, is_quoted)) {
      return tl::unexpected(
          Error{ErrorCode::kRefused, offset,
                "this is no path: " + std::string(path.substr(start)) +
                    "; a step is ['key'], [number] or .name"});
    }
    const Steps steps = steps_from(envelope, offset);
    const auto step = std::ranges::find_if(steps, [&](const Step& each) {
      return is_step(*envelope, each, text, is_attribute, is_quoted);
    });
    if (step == steps.end()) {
      return tl::unexpected(
          Error{ErrorCode::kRefused, offset,
                "nothing is at " + std::string(path.substr(0, reader.at())) + "; " +
                    (start == 0 ? "the payload" : std::string(path.substr(0, start))) +
                    " is a " + describe_part(envelope, offset).type + " of " +
                    std::to_string(steps.size()) + " parts"});
    }
    offset = step->offset;
  }
  return offset;
}

}  // namespace waybill
