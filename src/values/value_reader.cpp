// Builds the value of a verified payload.
//
// A container is allocated in full when it is opened, so values do not move while the
// tree grows, and the target of a reference is copied from its place. The cost of a
// target is recorded, and charged before each copy.
// Tested by tests/values/value_test.cpp, value_refusals_test.cpp and
// value_envelope_test.cpp.

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "format/definitions.h"
#include "format/shapes.h"
#include "format/value_view.h"
#include "report/value_text.h"
#include "values/value_keys.h"
#include "values/value_leaf.h"
#include "waybill/policy.h"
#include "waybill/value.h"
#include "wire/reader.h"

namespace waybill {
namespace {

using data::Items;
using data::Kind;
using data::Value;
using wire::BufferKind;
using wire::ExtType;
using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

consteval std::size_t part_of_object(std::string_view name) {
  return envelope::position_of(NodeTag::kObject, name);
}

// Whether the object that the buffer stands for is mutable.
bool is_writable(const StoredBuffer& row) {
  return row.kind == BufferKind::kByteArray || row.kind == BufferKind::kWritable;
}

// The decompressed content of a stored buffer. `offset`: of the node that refers to it.
// Errors: kTruncated if only the head was opened; those of decompress_buffer().
Result<data::Binary> stored_content(const Envelope& envelope, std::uint64_t number,
                                    std::size_t offset) {
  const StoredBuffer& row = envelope.buffers[number];
  if (row.bytes.size() != row.stored_length) {
    return tl::unexpected(Error{ErrorCode::kTruncated, offset,
                                "the bytes of stored buffer " + std::to_string(number) +
                                    " are missing: only the head was opened"});
  }
  if (!row.compression) return data::Binary(row.bytes.begin(), row.bytes.end());
  data::Binary content(row.length);
  const Result<void> done =
      decompress_buffer(row, row.bytes, envelope.buffers_offset + row.offset, content);
  if (!done) return tl::unexpected(done.error());
  return content;
}

// The cost of a value. The memory excludes its own place in its container.
struct Cost {
  std::uint64_t values = 0;  // As max_unfolded counts them.
  std::uint64_t memory = 0;
  std::size_t height = 0;  // Nesting depth.
};

// Charges values against the limits, the targets of references once for each reference,
// and finds these targets. Calls must follow the order of the payload.
class UnfoldingMeter {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // The target of references.
  struct Target {
    const Value* value = nullptr;  // Null while it is not complete.
    Cost cost;
  };

  UnfoldingMeter(const Envelope& envelope, const Limits& limits)
      : limits_(limits),
        places_(envelope::shared_places(envelope)),
        targets_(places_.size()) {}

  // The number that references to the value at `offset` have; kNone if there are none.
  std::size_t take_number(std::size_t offset) {
    const bool is_next = next_ != places_.size() && places_[next_].offset == offset;
    return is_next ? places_[next_++].number : kNone;
  }
  // Skips the shared places before `offset`, whose values are not built.
  void skip_to(std::size_t offset) {
    while (next_ != places_.size() && places_[next_].offset < offset) ++next_;
  }

  // Charges the value at `offset`. False if the reader then has an error:
  // kLimitExceeded.
  bool charge(Reader& reader, std::size_t offset, std::uint64_t values,
              std::uint64_t memory) {
    if (values > limits_.max_unfolded - spent_.values) {
      return reader.fail(
          ErrorCode::kLimitExceeded, offset,
          "the payload has more values, counted at each reference, than max_unfolded "
          "allows: " +
              std::to_string(limits_.max_unfolded));
    }
    if (memory > limits_.max_memory - spent_.memory) {
      return reader.fail(ErrorCode::kLimitExceeded, offset,
                         "the payload would take more bytes of memory than max_memory "
                         "allows: " +
                             std::to_string(limits_.max_memory));
    }
    spent_.values += values;
    spent_.memory += memory;
    return true;
  }
  // The sum of all charges.
  const Cost& spent() const { return spent_; }

  // Records that the target with this number is complete; ignores kNone. `before`: the
  // sum of charges when it began. `value` must not move.
  void complete(std::size_t number, const Value& value, const Cost& before,
                std::size_t height) {
    if (number == kNone) return;
    targets_[number] = {
        &value, {spent_.values - before.values, spent_.memory - before.memory, height}};
  }
  const Target& target(std::size_t number) const { return targets_[number]; }

 private:
  const Limits& limits_;
  Cost spent_;
  std::vector<envelope::SharedPlace> places_;  // In the order of the payload.
  std::size_t next_ = 0;
  std::vector<Target> targets_;  // Indexed by number.
};

class ValueBuilder {
 public:
  ValueBuilder(const Envelope& envelope, const Limits& limits, Objects objects)
      : envelope_(envelope),
        limits_(limits),
        accepts_standard_(objects == Objects::kStandard),
        reader_(envelope.payload.bytes, limits, envelope.payload.offset),
        meter_(envelope, limits_) {}

  bool build(Value& root) {
    // Definitions are not plain data, but only a reference to one is an error.
    const std::size_t start = envelope::value_offset(envelope_);
    if (!reader_.skip_to(start)) return false;
    meter_.skip_to(start);
    if (!build_next(root)) return false;
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      const bool is_built =
          frame.next == frame.count ? close() : build_next(frame.next_place());
      if (!is_built) return false;
    }
    return true;
  }

  const Error& error() const { return reader_.error(); }

 private:
  static constexpr std::size_t kBytesPerValue = 16;  // See max_unfolded.
  // Indices of the parts of an object.
  static constexpr std::size_t kCallable = part_of_object("callable"),
                               kArguments = part_of_object("args"),
                               kState = part_of_object("state"),
                               kItems = part_of_object("items"),
                               kPairs = part_of_object("pairs");

  // A container that is being filled. The children of a map alternate keys and values.
  struct Frame {
    Value* into;
    Value* items;                    // Null for a map.
    std::pair<Value, Value>* pairs;  // Null for other containers.
    std::size_t count;
    std::size_t offset;
    std::size_t target;      // The number that references to it have, or kNone.
    Cost before;             // The sum of charges when it was opened.
    std::size_t height = 0;  // The height of its highest child.
    std::size_t next = 0;
    bool is_object = false;  // Holds the parts of an object, which becomes one value.

    Value& next_place() {
      const std::size_t at = next++;
      if (items != nullptr) return items[at];
      return at % 2 == 0 ? pairs[at / 2].first : pairs[at / 2].second;
    }
  };

  bool fail(ErrorCode code, std::size_t offset, std::string detail) {
    return reader_.fail(code, offset, std::move(detail));
  }
  bool refuse(std::size_t offset, std::string_view what) {
    std::string detail(what);
    const std::string name = envelope::name_of({envelope_, offset});
    if (!name.empty()) detail += " (" + name + ")";
    const std::string where = path();
    if (!where.empty()) detail += " at " + where;
    return fail(ErrorCode::kRefused, offset, detail + ", which is not plain data");
  }
  bool refuse_node(std::size_t offset, NodeTag tag) {
    return refuse(offset, "a node " + std::string(envelope::shape_of(tag).name));
  }

  // The path of the value that is being read: ['runs'][3]; "" for the outermost.
  std::string path() const {
    constexpr std::size_t kMaxSteps = 64;
    std::string text;
    for (std::size_t i = 0; i < stack_.size(); ++i) {
      if (i == kMaxSteps) return text + "…";
      if (stack_[i].is_object) return text;
      text += step(stack_[i]);
    }
    return text;
  }

  static std::string step(const Frame& frame) {
    constexpr std::size_t kMaxText = 64;
    const Kind kind = frame.into->kind();
    if (kind == Kind::kSet || kind == Kind::kFrozenSet) return "{}";
    const std::size_t place = frame.next - 1;
    if (frame.pairs == nullptr) return "[" + std::to_string(place) + "]";
    if (place % 2 == 0) return ".keys()[" + std::to_string(place / 2) + "]";
    const auto* key = frame.pairs[place / 2].first.get_if<std::string>();
    return key != nullptr && key->size() < kMaxText
               ? "['" + *key + "']"
               : ".values()[" + std::to_string(place / 2) + "]";
  }

  bool charge(std::size_t offset, std::uint64_t values, std::uint64_t memory) {
    return meter_.charge(reader_, offset, values, memory);
  }

  bool build_next(Value& place) {
    const std::size_t target = meter_.take_number(reader_.offset());
    const Cost before = meter_.spent();
    Token token;
    if (!reader_.next(token)) return false;
    if (token.type == TokenType::kArray) return build_array(token, place, target);
    if (token.type == TokenType::kMap) return open_map(token, place, target);
    if (!build_leaf(token, place)) return false;
    meter_.complete(target, place, before, 0);
    return true;
  }

  bool build_leaf(const Token& token, Value& place) {
    if (token.is(ExtType::kReference)) return copy_target(token, place);
    const std::size_t size = token.type >= TokenType::kText ? token.bytes.size() : 0;
    if (!charge(token.offset, 1 + size / kBytesPerValue, size)) return false;
    return envelope::read_leaf(token, place) || refuse(token.offset, "a module");
  }

  bool copy_target(const Token& token, Value& place) {
    std::uint64_t number = 0;
    envelope::is_reference(envelope_, token, number);
    if (envelope_.shared[number] < envelope_.definitions.value) {
      const auto* shape = envelope::ValueView(envelope_, token.offset).shape();
      if (shape == nullptr) return refuse(token.offset, "part of a definition");
      return refuse_node(token.offset, shape->tag);
    }
    const UnfoldingMeter::Target& target = meter_.target(number);
    if (target.value == nullptr) {
      return fail(ErrorCode::kRefused, token.offset,
                  "a container holds itself: plain data cannot have a cycle");
    }
    const auto* global = target.value->get_if<data::Standard>();
    if (global != nullptr && global->type.empty() && !is_callable()) {
      return refuse(token.offset, "a node global");
    }
    if (stack_.size() + target.cost.height > limits_.max_depth) {
      return fail(ErrorCode::kLimitExceeded, token.offset,
                  "containers, the targets of references included, are nested deeper "
                  "than max_depth allows: " +
                      std::to_string(limits_.max_depth));
    }
    if (!charge(token.offset, target.cost.values, target.cost.memory)) return false;
    place = *target.value;
    raise_height(target.cost.height);
    return true;
  }

  bool build_array(const Token& token, Value& place, std::size_t target) {
    std::uint8_t tag = 0;
    if (token.count == 0 || !reader_.read_node_tag(tag)) {
      return open_items<Kind::kList>(token, place, target, token.count);
    }
    const std::size_t count = token.count - 1;
    const auto node = static_cast<NodeTag>(tag);
    switch (node) {
      case NodeTag::kTuple:
        return open_items<Kind::kTuple>(token, place, target, count);
      case NodeTag::kSet:
        return open_items<Kind::kSet>(token, place, target, count);
      case NodeTag::kFrozenSet:
        return open_items<Kind::kFrozenSet>(token, place, target, count);
      case NodeTag::kSlice:
        return open_items<Kind::kSlice>(token, place, target, count);
      case NodeTag::kRange:
        return open_items<Kind::kRange>(token, place, target, count);
      case NodeTag::kByteArray:
        return build_byte_array(token, place, target);
      case NodeTag::kStored:
        return build_stored(token, place, target);
      case NodeTag::kGlobal:
        // Only the callable of an object may be a global.
        return is_callable() ? build_callable(token, place, target)
                             : refuse_node(token.offset, node);
      case NodeTag::kObject:
        if (!accepts_standard_ ||
            !open_items<Kind::kTuple>(token, place, target, count))
          return refuse_node(token.offset, node);
        stack_.back().is_object = true;
        return true;
      default:
        return refuse_node(token.offset, node);
    }
  }

  // Whether the current value is the callable of an object.
  bool is_callable() const {
    return !stack_.empty() && stack_.back().is_object &&
           stack_.back().next == kCallable + 1;
  }

  // Builds a Standard without a type, which marks a callable.
  bool build_callable(const Token& token, Value& place, std::size_t target) {
    const Cost before = meter_.spent();
    std::string name = envelope::name_of({envelope_, token.offset});
    if (!charge(token.offset, 1 + name.size() / kBytesPerValue, name.size()))
      return false;
    for (std::size_t i = 1; i < token.count; ++i) {
      if (!reader_.skip()) return false;
    }
    // Skipped values may be shared positions too; no reference to them is followed.
    meter_.skip_to(reader_.offset());
    place = data::Standard{"", std::move(name)};
    meter_.complete(target, place, before, 0);
    return true;
  }

  // Replaces the parts of an object by its value.
  bool build_object(const Frame& frame) {
    // References may lead to values in the parts, so these live until the end.
    const std::vector<Value>& parts =
        *object_parts_.emplace_back(std::move(*frame.into)).items();
    const auto* callable = parts[kCallable].get_if<data::Standard>();
    std::optional<data::Standard> standard;
    const bool is_call =
        parts.size() == envelope::shape_of(NodeTag::kObject).min_count &&
        parts[kArguments].kind() == Kind::kList && parts[kState].is_nil() &&
        parts[kItems].kind() == Kind::kList && parts[kItems].items()->empty() &&
        parts[kPairs].kind() == Kind::kMap &&
        parts[kPairs].get_if<data::Map>()->pairs.empty();
    if (is_call && callable != nullptr && callable->type.empty()) {
      standard = envelope::standard_value(callable->text, *parts[kArguments].items());
    }
    if (!standard) return refuse_node(frame.offset, NodeTag::kObject);
    const std::size_t size = standard->text.size();
    if (!charge(frame.offset, 1 + size / kBytesPerValue, size)) return false;
    *frame.into = std::move(*standard);
    return true;
  }

  bool build_byte_array(const Token& token, Value& place, std::size_t target) {
    BytesView bytes;
    if (!reader_.read_binary(bytes, "a bytearray")) return false;
    const auto copy = [&]() -> Result<data::Binary> {
      return data::Binary(bytes.begin(), bytes.end());
    };
    return build_binary(token, bytes.size(), copy, true, place, target);
  }

  bool build_stored(const Token& token, Value& place, std::size_t target) {
    std::uint64_t number = 0;
    reader_.read_unsigned(number, UINT64_MAX, {});
    const StoredBuffer& row = envelope_.buffers[number];
    const auto copy = [&] { return stored_content(envelope_, number, token.offset); };
    return build_binary(token, row.length, copy, is_writable(row), place, target);
  }

  // Builds the value of a node that stands for `size` bytes, which `copy` returns.
  template <typename Copy>
  bool build_binary(const Token& token, std::uint64_t size, const Copy& copy,
                    bool is_writable, Value& place, std::size_t target) {
    const Cost before = meter_.spent();
    if (!charge(token.offset, 2 + size / kBytesPerValue, size)) return false;
    Result<data::Binary> bytes = copy();
    if (!bytes) return reader_.fail(bytes.error());
    place = is_writable ? Value(data::ByteArray{*std::move(bytes)}) : *std::move(bytes);
    meter_.complete(target, place, before, 1);
    raise_height(1);
    return true;
  }

  template <Kind kKind>
  bool open_items(const Token& token, Value& place, std::size_t target,
                  std::size_t count) {
    const Cost before = meter_.spent();
    if (!charge(token.offset, 1, count * sizeof(Value))) return false;
    std::vector<Value> items(count);
    Value* first = items.data();
    place = Items<kKind>(std::move(items));
    stack_.push_back({&place, first, nullptr, count, token.offset, target, before});
    return true;
  }

  bool open_map(const Token& token, Value& place, std::size_t target) {
    const Cost before = meter_.spent();
    if (!charge(token.offset, 1, token.count * 2 * sizeof(Value))) return false;
    std::vector<std::pair<Value, Value>> pairs(token.count);
    auto* first = pairs.data();
    place = data::Map(std::move(pairs));
    stack_.push_back(
        {&place, nullptr, first, token.count * 2, token.offset, target, before});
    return true;
  }

  bool close() {
    const Frame frame = stack_.back();
    stack_.pop_back();
    const bool is_valid =
        frame.is_object ? build_object(frame) : check(*frame.into, frame.offset);
    if (!is_valid) return false;
    const std::size_t height = frame.height + 1;
    meter_.complete(frame.target, *frame.into, frame.before, height);
    raise_height(height);
    return true;
  }

  // Checks what verify() cannot, since it builds no values.
  bool check(const Value& value, std::size_t offset) {
    envelope::Failure failure;
    if (const auto* map = value.get_if<data::Map>()) {
      return envelope::are_keys(*map, failure) ||
             fail(failure.code, offset, failure.detail);
    }
    if (value.kind() == Kind::kSet || value.kind() == Kind::kFrozenSet) {
      return envelope::are_keys(*value.items(), failure) ||
             fail(failure.code, offset, failure.detail);
    }
    const char* problem = envelope::problem_of(value);
    return problem == nullptr || fail(ErrorCode::kMalformed, offset, problem);
  }

  // Records a child of this height in the enclosing container.
  void raise_height(std::size_t height) {
    if (stack_.empty()) return;
    stack_.back().height = std::max(stack_.back().height, height);
  }

  const Envelope& envelope_;
  const Limits limits_;
  const bool accepts_standard_;
  Reader reader_;
  UnfoldingMeter meter_;
  std::deque<Value> object_parts_;
  std::vector<Frame> stack_;
};

}  // namespace

Result<Value> read_value(const VerifiedEnvelope& envelope, const Limits& limits,
                         Objects objects) {
  Value value;
  ValueBuilder builder(envelope, limits, objects);
  if (!builder.build(value)) return tl::unexpected(builder.error());
  // Nothing is imported, so imports that accepted objects name are allowed.
  if (objects == Objects::kStandard && envelope->code.empty()) return value;
  // Imports and code that the payload does not use are refused too.
  Result<void> is_data = check_policy(envelope, Policy());
  if (!is_data) return tl::unexpected(std::move(is_data.error()));
  return value;
}

Result<Value> read_value(BytesView bytes, const Gate& gate, Objects objects) {
  const Result<VerifiedEnvelope> envelope = gate.open_trusted(bytes);
  if (!envelope) return tl::unexpected(envelope.error());
  return read_value(*envelope, gate.limits(), objects);
}

Result<Value> read_value(BytesView bytes, const Limits& limits) {
  LoadOptions load_options;
  load_options.limits = limits;
  return read_value(bytes, Gate(load_options));
}

}  // namespace waybill
