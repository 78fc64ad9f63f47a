// Walks a value and checks every part of it against its rule in the grammar.
//
// The stack holds one frame per open container: how many values are left in it, and the
// rule for the next. Positions of reference targets are sorted once; each value is
// compared with the next one. A position where no value starts is noticed when the walk
// has passed it.
// Tested by tests/verify/verify_test.cpp.

#include "verify/payload_check.h"

#include <algorithm>
#include <string>

#include "verify/short_call.h"
#include "wire/number.h"
#include "wire/utf8.h"

namespace waybill::envelope {
namespace {

using wire::ExtType;
using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

// For fewer values than this, run() does not try Reader::skip_plain().
constexpr std::uint64_t kManyValues = 8;

constexpr std::uint16_t bit(TokenType type) {
  return static_cast<std::uint16_t>(1u << static_cast<unsigned>(type));
}

// The token types that a value of this rule may start with.
constexpr std::uint16_t accepted(Rule rule) {
  switch (rule) {
    case Rule::kObject:
    case Rule::kObjectOrEmpty:
      return 0xffff;
    case Rule::kConstant:
    case Rule::kConstantOrCode:
      return 0xffff & ~bit(TokenType::kMap);
    case Rule::kText:
      return bit(TokenType::kText) | bit(TokenType::kExtension);
    case Rule::kTextOrNil:
      return accepted(Rule::kText) | bit(TokenType::kNil);
    case Rule::kBoolean:
      return bit(TokenType::kBoolean);
    case Rule::kBinary:
      return bit(TokenType::kBinary);
    case Rule::kIdOrNil:
      return bit(TokenType::kBinary) | bit(TokenType::kNil);
    case Rule::kUnsigned:
    case Rule::kCodeIndex:
      return bit(TokenType::kInteger);
    case Rule::kModuleOrNil:
      return bit(TokenType::kExtension) | bit(TokenType::kNil);
    case Rule::kNamespace:
    case Rule::kCell:
      return bit(TokenType::kArray) | bit(TokenType::kExtension);
    case Rule::kObjects:
    case Rule::kCells:
    case Rule::kObjectsOrEmpty:
      return bit(TokenType::kArray);
    case Rule::kPairs:
    case Rule::kNamedObjects:
    case Rule::kFunctionFields:
      return bit(TokenType::kMap);
  }
  return 0;
}

// How many values a node should have: "3" or "6 to 7".
std::string counts_text(const Shape& shape) {
  std::string text = std::to_string(shape.min_count);
  if (shape.max_count == shape.min_count) return text;
  return text + " to " + std::to_string(shape.max_count);
}

// Whether a complete leaf that is not an extension is valid.
bool is_valid_leaf(BytesView bytes) {
  const wire::Lead& lead = wire::kLeads[bytes[0]];
  if (lead.counts != wire::Counts::kBytes ||
      wire::bytes_type(bytes[0]) != wire::TokenType::kText) {
    return true;
  }
  return wire::is_utf8(wire::as_text(bytes.subspan(lead.head)));
}

}  // namespace

bool PayloadCheck::fail_rule(Reader& reader, const Token& token, Rule rule) {
  return reader.fail(ErrorCode::kMalformed, token.offset,
                     std::string(describe(rule)) + " should be here");
}

bool PayloadCheck::sort_targets(Reader& reader) {
  const std::vector<std::uint64_t>& shared = envelope_.shared;
  targets_.reserve(shared.size());
  for (std::uint64_t position : shared) targets_.push_back({position, targets_.size()});
  std::sort(targets_.begin(), targets_.end(),
            [](const Target& a, const Target& b) { return a.position < b.position; });
  const auto other = std::adjacent_find(
      targets_.begin(), targets_.end(),
      [](const Target& a, const Target& b) { return a.position == b.position; });
  target_tags_.assign(shared.size(), 0);
  return other == targets_.end() ||
         reader.fail(
             ErrorCode::kBadReference, start_,
             "shared position " + std::to_string(other->position) + " is listed twice");
}

bool PayloadCheck::check_payload(Reader& reader) {
  start_ = reader.offset();
  if (!sort_targets(reader)) return false;
  const bool has_definitions = envelope_.definitions.value != 0;
  return (!has_definitions || check_definitions(reader)) && check_to_end(reader);
}

bool PayloadCheck::check_value(Reader& reader) {
  start_ = reader.offset();
  const std::size_t value = envelope_.definitions.value;
  if (!sort_targets(reader) || !reader.skip_to(start_ + value)) return false;
  while (next_target_ != targets_.size() && targets_[next_target_].position < value) {
    ++next_target_;
  }
  scope_ = ReferenceScope::of_value(envelope_);
  return check_to_end(reader);
}

bool PayloadCheck::check_to_end(Reader& reader) {
  if (!run(reader, {1})) return false;
  if (!reader.at_end()) {
    return reader.fail(ErrorCode::kMalformed, reader.offset(),
                       "the payload is more than one value");
  }
  if (next_target_ != targets_.size()) {
    return reader.fail(ErrorCode::kBadReference, start_,
                       "shared position " +
                           std::to_string(targets_[next_target_].position) +
                           " is not the start of an object");
  }
  return check_all_referenced(reader) && check_all_stored_used(reader);
}

// Checks the definitions, whose references have their own shared positions.
// find_definitions() has located them.
bool PayloadCheck::check_definitions(Reader& reader) {
  const Definitions& definitions = envelope_.definitions;
  const std::vector<std::uint64_t>& starts = definitions.starts;
  const Frame root{starts.size(), contents_of(Rule::kObjects)};
  const std::size_t first = starts.empty() ? definitions.value : starts.front();
  if (!reader.skip_to(start_ + first) || !run(reader, root) ||
      !check_all_referenced(reader)) {
    return false;
  }
  scope_ = ReferenceScope::of_value(envelope_);
  reference_count_ = 0;
  return true;
}

// Whether every shared position is referred to.
bool PayloadCheck::check_all_referenced(Reader& reader) const {
  return reference_count_ == scope_.size() ||
         reader.fail(ErrorCode::kBadReference, start_,
                     "shared position number " + std::to_string(reference_count_) +
                         " is never referred to");
}

bool PayloadCheck::check_all_stored_used(Reader& reader) const {
  return stored_count_ == envelope_.buffers.size() ||
         reader.fail(ErrorCode::kBadReference, start_,
                     "stored buffer " + std::to_string(stored_count_) +
                         " is never referred to");
}

bool PayloadCheck::check_constants(Reader& reader) {
  std::uint64_t count = 0;
  if (!reader.read_array(count, "the constants")) return false;
  return run(reader, {count, contents_of(Rule::kConstantOrCode)});
}

bool PayloadCheck::run(Reader& reader, const Frame& root) {
  stack_.reserve(first_frames_.size() / sizeof(Frame));
  stack_.assign(1, root);
  // Each level takes a byte at least, so the depth need not be counted here.
  const bool skips_plain = meter_ == nullptr && reader.left() <= limits_.max_depth;
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    if (frame.left >= kManyValues && skips_plain && !reader.is_short_node_next() &&
        frame.contents.are_objects()) {
      frame.left = reader.skip_plain(frame.left, next_stop(reader));
    }
    if (frame.left == 0) {
      stack_.pop_back();
      continue;
    }
    Rule rule{};
    if (!next_rule(reader, frame, rule)) return false;
    --frame.left;
    if (!check_next(reader, rule)) return false;
  }
  return true;
}

// The offset of the next value that is a reference target, or that the caller has
// checked.
std::size_t PayloadCheck::next_stop(const Reader& reader) const {
  std::size_t stop = SIZE_MAX;
  if (next_target_ != targets_.size()) stop = start_ + targets_[next_target_].position;
  const std::size_t checked = checked_part_.start;
  return checked >= reader.offset() ? std::min(stop, checked) : stop;
}

bool PayloadCheck::next_rule(Reader& reader, Frame& frame, Rule& rule) {
  Contents& contents = frame.contents;
  if (contents.parts != nullptr) {
    rule = contents.parts++->rule;
    return true;
  }
  if (!contents.are_fields) {
    rule = frame.left % 2 == 0 ? contents.even : contents.odd;
    return true;
  }
  const std::size_t offset = reader.offset();
  std::uint64_t field = 0;
  if (!reader.read_unsigned(field, UINT64_MAX, "a function field")) return false;
  const Part* part = function_part(field);
  if (part == nullptr) {
    return reader.fail(ErrorCode::kUnknownTag, offset,
                       "function field " + std::to_string(field) +
                           " is unknown; read it with a newer waybill");
  }
  const auto mask = static_cast<std::uint16_t>(1u << field);
  if ((frame.fields_seen & mask) != 0) {
    return reader.fail(ErrorCode::kMalformed, offset, "a function field occurs twice");
  }
  frame.fields_seen |= mask;
  rule = part->rule;
  return true;
}

bool PayloadCheck::enter_target(Reader& reader, Rule rule) {
  is_target_ = false;
  if (next_target_ == targets_.size() || is_constant(rule)) return true;
  const std::uint64_t position = reader.offset() - start_;
  const std::uint64_t expected = targets_[next_target_].position;
  if (expected > position) return true;
  if (expected < position || !is_referable(rule)) {
    return reader.fail(ErrorCode::kBadReference, start_ + expected,
                       "shared position " + std::to_string(expected) +
                           " is not the start of an object");
  }
  if (meter_ != nullptr) {
    meter_->start_target(targets_[next_target_].number, stack_.size());
  }
  ++next_target_;
  is_target_ = true;
  return true;
}

// Skips a leaf or an empty container; most values are one of these. Returns false, and
// reads nothing, for other values and for invalid ones. Runs for nearly every value, so
// all that it calls is inlined.
[[gnu::flatten]] bool PayloadCheck::skip_short(Reader& reader, Rule rule) {
  switch (rule) {
    case Rule::kObject:
    case Rule::kObjectOrEmpty: {
      const std::string_view text = reader.short_text();
      return text.data() != nullptr
                 ? wire::is_utf8(text) && reader.skip_short_text(text)
                 : reader.skip_scalar();
    }
    case Rule::kText: {
      const std::string_view text = reader.short_text();
      return text.data() != nullptr && wire::is_utf8(text) &&
             reader.skip_short_text(text);
    }
    case Rule::kObjects:
    case Rule::kCells:
    case Rule::kObjectsOrEmpty:
      return reader.skip_byte(wire::kEmptyArray);
    case Rule::kPairs:
    case Rule::kNamedObjects:
    case Rule::kFunctionFields:
      return reader.skip_byte(wire::kEmptyMap);
    default:
      return false;
  }
}

bool PayloadCheck::check_next(Reader& reader, Rule rule) {
  if (meter_ != nullptr) meter_->close_targets(stack_.size());
  if (!enter_target(reader, rule)) return false;
  if (meter_ == nullptr && skip_short(reader, rule)) return true;
  if (reader.offset() == checked_part_.start && skip_checked_part(reader, rule))
    return true;
  Token token;
  if (!reader.next(token)) return false;
  if ((accepted(rule) & bit(token.type)) == 0) return fail_rule(reader, token, rule);
  if (meter_ != nullptr && !meter_token(reader, token)) return false;
  switch (token.type) {
    case TokenType::kText:
      return wire::is_utf8(token.text()) ||
             reader.fail(ErrorCode::kMalformed, token.offset, "text is not UTF-8");
    case TokenType::kInteger:
      if (rule == Rule::kUnsigned && token.integer < 0)
        return fail_rule(reader, token, rule);
      return rule != Rule::kCodeIndex || check_code_index(reader, token);
    case TokenType::kExtension:
      return check_extension(reader, token, rule);
    case TokenType::kArray:
      return check_array(reader, token, rule);
    case TokenType::kMap: {
      const Contents& contents = contents_of(rule);
      return push(reader, token,
                  {contents.are_fields ? token.count : token.count * 2, contents});
    }
    default:
      return true;
  }
}

// Counts a token. Nodes and references are counted where their kind is known.
bool PayloadCheck::meter_token(Reader& reader, const Token& token) {
  switch (token.type) {
    case TokenType::kMap:
      return meter_->add_container(reader, token, 0, token.count, stack_.size());
    case TokenType::kArray:
      return true;
    case TokenType::kExtension:
      if (token.is(wire::ExtType::kReference)) return true;
      [[fallthrough]];
    default:
      return meter_->add_leaf(reader, token);
  }
}

bool PayloadCheck::check_code_index(Reader& reader, const Token& token) {
  if (token.integer < 0) return fail_rule(reader, token, Rule::kCodeIndex);
  const auto index = static_cast<std::uint64_t>(token.integer);
  if (index >= envelope_.code.size()) {
    return reader.fail(ErrorCode::kUndeclared, token.offset,
                       "code index " + std::to_string(index) +
                           " is not below the number of code bodies, " +
                           std::to_string(envelope_.code.size()));
  }
  code_uses_.push_back(static_cast<std::uint32_t>(index));
  return true;
}

bool PayloadCheck::check_array(Reader& reader, const Token& token, Rule rule) {
  const bool can_be_node = is_referable(rule) || is_constant(rule);
  std::uint8_t tag = 0;
  if (can_be_node && token.count != 0 && reader.read_node_tag(tag)) {
    return check_node(reader, token, rule, tag);
  }
  if (meter_ != nullptr &&
      !meter_->add_container(reader, token, 0, token.count, stack_.size())) {
    return false;
  }
  if (can_be_node && !is_object(rule)) return fail_rule(reader, token, rule);
  return push(reader, token, {token.count, contents_of(rule)});
}

bool PayloadCheck::check_node(Reader& reader, const Token& token, Rule rule,
                              std::uint8_t tag) {
  const Shape* shape = shape_of(tag);
  if (shape == nullptr) {
    return reader.fail(ErrorCode::kUnknownTag, token.offset,
                       "node tag " + std::to_string(tag) +
                           " is unknown; read it with a newer waybill");
  }
  const std::uint64_t count = token.count - 1;
  const NodeTag kind = shape->tag;
  const bool fits = (is_object(rule) && kind != NodeTag::kDefinitions) ||
                    (is_constant(rule) && shape->is_constant) ||
                    (!is_constant(rule) && kind == NodeTag::kStreamReference) ||
                    (rule == Rule::kNamespace && kind == NodeTag::kNamespace) ||
                    (rule == Rule::kCell && kind == NodeTag::kCell && count == 0);
  if (!fits) return fail_rule(reader, token, rule);
  if (count < shape->min_count ||
      (shape->max_count != kMany && count > shape->max_count)) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       "a node " + std::string(shape->name) + " has " +
                           std::to_string(count) + " values and should have " +
                           counts_text(*shape));
  }
  if (kind == NodeTag::kDefinitionHash) {
    BytesView hash;
    return reader.read_binary(hash, "the hash of a definition") &&
           reader.fail(ErrorCode::kUndeclared, token.offset,
                       "a definition is given by its hash, and this reader does not "
                       "have it; ask the sender for the whole payload");
  }
  if (meter_ != nullptr) {
    const std::uint64_t more =
        kind == NodeTag::kRange ? range_length(reader, envelope_) : 0;
    if (!meter_->add_container(reader, token, tag, count, stack_.size(), more))
      return false;
  }
  if (kind == NodeTag::kStored && !check_stored(reader, token)) return false;
  if (is_target_) target_tags_[targets_[next_target_ - 1].number] = tag;
  if (kind == NodeTag::kObject && skip_short_call(reader, count)) return true;
  if (is_constant(rule)) {
    // CPython recurses over constants when it creates a code object.
    if (count != 0 &&
        stack_.size() > static_cast<std::size_t>(wire::kMaxConstantDepth)) {
      return reader.fail(ErrorCode::kLimitExceeded, token.offset,
                         "constants are nested more than " +
                             std::to_string(wire::kMaxConstantDepth) + " deep");
    }
    return push(reader, token, {count, contents_of(Rule::kConstant)});
  }
  return push(reader, token, {count, contents_of(*shape)});
}

bool PayloadCheck::push(Reader& reader, const Token& token, const Frame& frame) {
  if (frame.left == 0) return true;
  if (stack_.size() > limits_.max_depth) {
    return reader.fail(ErrorCode::kLimitExceeded, token.offset,
                       "containers are nested deeper than max_depth allows: " +
                           std::to_string(limits_.max_depth));
  }
  stack_.push_back(frame);
  return true;
}

bool PayloadCheck::check_extension(Reader& reader, const Token& token, Rule rule) {
  const auto expect = [&](bool is_sound, const char* detail) {
    return is_sound || reader.fail(ErrorCode::kMalformed, token.offset, detail);
  };
  const bool is_value = is_object(rule) || is_constant(rule);
  switch (static_cast<ExtType>(token.ext_type)) {
    case ExtType::kNode:
      return expect(false, "a node's tag is not at the start of an array");
    case ExtType::kReference:
      return is_referable(rule) ? check_reference(reader, token, rule)
                                : fail_rule(reader, token, rule);
    case ExtType::kModule:
      return is_object(rule) || rule == Rule::kModuleOrNil
                 ? check_module(reader, token)
                 : fail_rule(reader, token, rule);
    case ExtType::kInteger:
      if (!is_value) return fail_rule(reader, token, rule);
      return expect(wire::is_big_integer(token.bytes),
                    "an int extension is not the shortest form of a number "
                    "beyond 64 bits");
    case ExtType::kComplex:
      if (!is_value) return fail_rule(reader, token, rule);
      return expect(token.bytes.size() == 16, "a complex number should have 16 bytes");
    case ExtType::kText:
      if (!is_value && rule != Rule::kText && rule != Rule::kTextOrNil) {
        return fail_rule(reader, token, rule);
      }
      return expect(wire::is_utf8(token.text(), wire::Surrogates::kAllowed),
                    "text is not UTF-8");
    case ExtType::kSingleton: {
      if (!is_value) return fail_rule(reader, token, rule);
      if (!expect(token.bytes.size() == 1, "a singleton should have one byte")) {
        return false;
      }
      constexpr auto kEmpty = static_cast<std::uint8_t>(wire::Singleton::kEmpty);
      if (token.bytes[0] > kEmpty) {
        return reader.fail(ErrorCode::kUnknownTag, token.offset,
                           "singleton " + std::to_string(token.bytes[0]) +
                               " is unknown; read it with a newer waybill");
      }
      return expect(token.bytes[0] != kEmpty || rule == Rule::kObjectOrEmpty,
                    "only a cell's content can be empty");
    }
    case ExtType::kCode: {
      if (rule != Rule::kConstantOrCode) return fail_rule(reader, token, rule);
      ContentHash hash;
      if (!expect(token.bytes.size() == hash.size(),
                  "a code hash should have 16 bytes")) {
        return false;
      }
      std::copy(token.bytes.begin(), token.bytes.end(), hash.begin());
      nested_hashes_.push_back(hash);
      return true;
    }
  }
  return reader.fail(ErrorCode::kUnknownTag, token.offset,
                     "extension type " + std::to_string(token.ext_type) +
                         " is unknown; read it with a newer waybill");
}

bool PayloadCheck::check_reference(Reader& reader, const Token& token, Rule rule) {
  const auto fail = [&](const std::string& detail) {
    return reader.fail(ErrorCode::kBadReference, token.offset, detail);
  };
  std::uint64_t number = 0;
  if (!wire::index_of(token.bytes, number)) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       "a reference should have 1, 2, 4 or 8 bytes");
  }
  if (number >= scope_.size()) {
    return fail("reference " + std::to_string(number) +
                " is not below the number of shared positions, " +
                std::to_string(scope_.size()));
  }
  const std::size_t index = scope_.index_of(number);
  if (envelope_.shared[index] >= token.offset - start_) {
    return fail("reference " + std::to_string(number) +
                " is to an object that comes later");
  }
  if (number > reference_count_) {
    return fail("references are numbered in order of first use, and " +
                std::to_string(number) + " is used before " +
                std::to_string(reference_count_));
  }
  if (number == reference_count_) ++reference_count_;
  if (meter_ != nullptr && !meter_->add_reference(reader, token.offset, index))
    return false;
  const std::uint8_t tag = target_tags_[index];
  const bool fits =
      is_object(rule) ||
      (rule == Rule::kNamespace &&
       tag == static_cast<std::uint8_t>(NodeTag::kNamespace)) ||
      (rule == Rule::kCell && tag == static_cast<std::uint8_t>(NodeTag::kCell));
  return fits || fail("reference " + std::to_string(number) + " should be to " +
                      std::string(describe(rule)));
}

// Skips the part that the caller has checked.
bool PayloadCheck::skip_checked_part(Reader& reader, Rule rule) {
  if (meter_ != nullptr || !is_object(rule)) return false;
  next_target_ = checked_part_.targets;
  reference_count_ = checked_part_.references;
  return reader.skip_to(checked_part_.end);
}

// Skips a short call of `count` values, whose head and tag are read. It must contain
// nothing new: no reference target, and no first reference to an object.
bool PayloadCheck::skip_short_call(Reader& reader, std::uint64_t count) {
  if (meter_ != nullptr || count != shape_of(NodeTag::kObject).min_count ||
      stack_.size() >= limits_.max_depth) {
    return false;
  }
  const std::uint64_t position = reader.offset() - start_;
  const auto is_old = [&](std::uint64_t number) {
    return number < reference_count_ &&
           envelope_.shared[scope_.index_of(number)] < position;
  };
  const ShortCall call = short_call_at(reader.rest(), is_old, is_valid_leaf);
  const bool has_target = next_target_ != targets_.size() &&
                          targets_[next_target_].position < position + call.size;
  return call.size != 0 && !has_target && reader.skip_bytes(call.size, call.values());
}

// Checks the number of a stored buffer in the node at `token`; the reader is at the
// number. A value of another type is refused by its rule, later.
bool PayloadCheck::check_stored(Reader& reader, const Token& token) {
  Reader ahead = reader;
  std::uint64_t number = 0;
  if (!ahead.read_unsigned(number, INT64_MAX, {})) return true;
  const std::vector<StoredBuffer>& buffers = envelope_.buffers;
  if (number >= buffers.size()) {
    return reader.fail(ErrorCode::kUndeclared, token.offset,
                       "buffer number " + std::to_string(number) +
                           " is not below the number of stored buffers, " +
                           std::to_string(buffers.size()));
  }
  if (number > stored_count_) {
    return reader.fail(ErrorCode::kBadReference, token.offset,
                       "stored buffers are numbered in order of first use, and " +
                           std::to_string(number) + " is used before " +
                           std::to_string(stored_count_));
  }
  if (number == stored_count_) ++stored_count_;
  return meter_ == nullptr || meter_->add_stored(reader, token.offset, buffers[number]);
}

bool PayloadCheck::check_module(Reader& reader, const Token& token) {
  std::uint64_t index = 0;
  if (!wire::index_of(token.bytes, index)) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       "the index of a module should have 1, 2, 4 or 8 bytes");
  }
  const std::vector<ImportRecord>& imports = envelope_.manifest.imports;
  if (index >= imports.size()) {
    return reader.fail(ErrorCode::kUndeclared, token.offset,
                       "module index " + std::to_string(index) +
                           " is not below the number of imports, " +
                           std::to_string(imports.size()));
  }
  return imports[index].time == ImportTime::kLoad ||
         reader.fail(ErrorCode::kUndeclared, token.offset,
                     "the manifest does not list " + imports[index].module +
                         " as needed when the payload is loaded");
}

}  // namespace waybill::envelope
