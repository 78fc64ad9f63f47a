// Describes values, the steps to their parts, and the paths that steps make up.
//
// The parts of an object are what its __reduce_ex__ returned: attributes, which are the
// keys of a state that is a dict (or of the two dicts of an object with slots), items
// and pairs.
// Tested by tests/parts/parts_test.cpp and tests/python/api/test_open.py.

#include "waybill/parts.h"

#include <algorithm>
#include <string>
#include <string_view>
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

constexpr std::size_t kMaxShownText = 60;

class StepCollector {
 public:
  explicit StepCollector(const Envelope& envelope) : envelope_(envelope) {}

  Steps collect(const ValueView& value) {
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

  // In an object node, items and pairs follow the state.
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

  // Skips attributes whose name is not text.
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
    const std::vector<std::size_t> both = state.values();  // __dict__ and slots.
    if (both.size() != 2) return;
    for (const std::size_t offset : both) {
      const ValueView attributes(envelope_, offset);
      if (attributes.is_map()) add_pairs(attributes, Step::Kind::kAttribute);
    }
  }

  const Envelope& envelope_;
  Steps steps_;
};

// Sets the size: the bytes of the value in the head and of the buffers that it uses.
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

// Precedes the index of a pair whose key has no unique text.
constexpr std::string_view kValues = ".values()";

// Splits a path into steps.
class PathReader {
 public:
  explicit PathReader(std::string_view path) : path_(path) {}

  bool at_end() const { return at_ == path_.size(); }
  std::size_t at() const { return at_; }

  // A step as it is spelled.
  struct Spelling {
    std::string_view text;
    bool is_attribute = false;  // ".text" or ".['text']"; else "[text]".
    bool is_quoted = false;     // "['text']"
    bool is_position = false;   // ".values()[text]"
  };

  // False if the rest does not begin with a step.
  bool next(Spelling& step) {
    step = {};
    auto& [text, is_attribute, is_quoted, is_position] = step;
    is_position = path_.substr(at_).starts_with(kValues) &&
                  path_.substr(at_ + kValues.size()).starts_with("[");
    if (is_position) at_ += kValues.size();
    is_attribute = !is_position && path_[at_] == '.';
    if (is_attribute && path_.substr(at_ + 1).starts_with("['")) {
      ++at_;  // An attribute whose name has to be quoted.
    } else if (is_attribute) {
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
  // An unquoted key may contain brackets: b'[', ([1], 2).
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

std::string key_text(const Envelope& envelope, std::size_t offset) {
  return value_text(envelope::ValueView::at(envelope, offset), envelope.bytes.size());
}

// Whether an attribute of this name needs no quotes.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name != kValues.substr(1) &&
         name.find_first_of(".[]'\"\\") == std::string_view::npos &&
         envelope::escaped(name, false) == name;
}

// Whether the text of a key is unique to it.
bool is_unique(std::string_view text) {
  return text != "nan" && text.find("…") == std::string_view::npos;
}

// Whether the text in quotes is this name: literally, or escaped if it has a backslash.
bool is_name(std::string_view name, std::string_view text) {
  return text.find('\\') == text.npos ? name == text
                                      : envelope::escaped(name, false) == text;
}

bool is_spelled(const Envelope& envelope, const Step& step,
                const PathReader::Spelling& spelling) {
  const auto& [text, is_attribute, is_quoted, is_position] = spelling;
  const bool is_key = step.kind == Step::Kind::kKey;
  if (is_position) return is_key && std::to_string(step.index) == text;
  switch (step.kind) {
    case Step::Kind::kAttribute:
      return is_attribute && (is_quoted ? is_name(step.name, text) : step.name == text);
    case Step::Kind::kIndex:
      return !is_attribute && !is_quoted && std::to_string(step.index) == text;
    case Step::Kind::kKey:
      break;
  }
  if (is_attribute) return false;
  if (!is_quoted) return key_text(envelope, step.key_offset) == text;
  if (step.name.data() == nullptr) {  // The key may be text with lone surrogates.
    return key_text(envelope, step.key_offset) == "'" + std::string(text) + "'";
  }
  return is_name(step.name, text);
}

}  // namespace

std::size_t root_of(const VerifiedEnvelope& envelope) {
  return ValueView(*envelope, envelope->payload.offset).offset();
}

Steps steps_from(const VerifiedEnvelope& envelope, std::size_t offset) {
  return StepCollector(*envelope).collect(ValueView(*envelope, offset));
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
  part.count = items ? *items : StepCollector(envelope).collect(value).size();
  const bool is_leaf = value.shape() == nullptr && !items;
  if (value.is(NodeTag::kFunction) || value.is(NodeTag::kCode)) {
    part.text = envelope::name_of(value);
  } else if (is_leaf || (part.count == 0 && !value.is_object())) {
    part.text = envelope::value_text(value, kMaxShownText);
  }
  return part;
}

std::string step_text(const VerifiedEnvelope& envelope, const Step& step) {
  const auto quoted = [&] { return "['" + envelope::escaped(step.name, false) + "']"; };
  switch (step.kind) {
    case Step::Kind::kAttribute:
      return is_plain_name(step.name) ? "." + std::string(step.name) : "." + quoted();
    case Step::Kind::kIndex:
      return "[" + std::to_string(step.index) + "]";
    case Step::Kind::kKey:
      break;
  }
  if (step.name.data() != nullptr) return quoted();
  const std::string text = key_text(*envelope, step.key_offset);
  return is_unique(text)
             ? "[" + text + "]"
             : std::string(kValues) + "[" + std::to_string(step.index) + "]";
}

Result<std::size_t> find_part(const VerifiedEnvelope& envelope, std::string_view path) {
  std::size_t offset = root_of(envelope);
  PathReader reader(path);
  while (!reader.at_end()) {
    const std::size_t start = reader.at();
    PathReader::Spelling spelling;
    if (!reader.next(spelling)) {
      return tl::unexpected(Error{ErrorCode::kRefused, offset,
                                  "not a path: " + std::string(path.substr(start)) +
                                      "; a step is ['key'], [number] or .name"});
    }
    const Steps steps = steps_from(envelope, offset);
    // If keys are equal, loading keeps the last pair.
    const auto step = std::find_if(steps.rbegin(), steps.rend(), [&](const Step& each) {
      return is_spelled(*envelope, each, spelling);
    });
    if (step == steps.rend()) {
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
