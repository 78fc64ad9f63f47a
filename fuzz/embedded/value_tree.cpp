#include "embedded/value_tree.h"

#include <unordered_map>

#include "format/shapes.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace waybill::fuzz {
namespace {

using wire::ExtType;
using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr int kMaxDepth = 300;  // Bounds recursion.

bool parse_into(Reader& reader, BytesView bytes, Value& value, int depth) {
  Token token;
  if (depth == 0 || !reader.next(token)) return false;
  value.type = token.type;
  value.origin = token.offset;
  if (!value.is_container()) {
    const BytesView leaf = bytes.subspan(token.offset, reader.offset() - token.offset);
    value.leaf.assign(leaf.begin(), leaf.end());
    return true;
  }
  value.items.resize(token.count * (token.type == TokenType::kMap ? 2 : 1));
  for (Value& item : value.items) {
    if (!parse_into(reader, bytes, item, depth - 1)) return false;
  }
  return true;
}

void append(Bytes& out, BytesView bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Writes a payload with new numbers, and records the positions of values.
class PayloadWriter {
 public:
  explicit PayloadWriter(const std::vector<std::uint64_t>& shared) : shared_(shared) {}

  void write_value(const Value& value) {
    positions_.try_emplace(value.origin, out_.size());
    if (const auto number = reference_in(value)) return write_reference(*number);
    write_head(value, out_);
    for (const Value& item : value.items) write_value(item);
  }

  static void write_head(const Value& value, Bytes& out) {
    if (!value.is_container()) return append(out, value.leaf);
    wire::Writer head;
    if (value.type == TokenType::kArray) {
      head.array(value.items.size());
    } else {
      head.map(value.items.size() / 2);
    }
    append(out, head.view());
  }

  Bytes finish(std::vector<std::uint64_t>& shared) {
    shared.clear();
    for (std::uint64_t number : ordered_numbers_) {
      // Keeps a reference without a target.
      const std::uint64_t origin =
          number < shared_.size() ? shared_[number] : UINT32_MAX;
      const auto found = positions_.find(origin);
      shared.push_back(found == positions_.end() ? origin : found->second);
    }
    return std::move(out_);
  }

 private:
  void write_reference(std::uint64_t number) {
    const auto [found, is_new] = numbers_.try_emplace(number, ordered_numbers_.size());
    if (is_new) ordered_numbers_.push_back(number);
    wire::Writer reference;
    reference.index(ExtType::kReference, found->second);
    append(out_, reference.view());
  }

  const std::vector<std::uint64_t> shared_;
  std::vector<std::uint64_t> ordered_numbers_;
  std::unordered_map<std::uint64_t, std::uint64_t> numbers_;
  std::unordered_map<std::uint64_t, std::uint64_t> positions_;
  Bytes out_;
};

}  // namespace

std::optional<Value> parse(BytesView bytes) {
  Reader reader(bytes);
  Value value;
  if (!parse_into(reader, bytes, value, kMaxDepth) || !reader.at_end()) return {};
  return value;
}

Value leaf_of(Bytes bytes) {
  Value value;
  Token token;
  Reader reader(bytes);
  if (reader.next(token)) value.type = token.type;
  value.leaf = std::move(bytes);
  return value;
}

void write(const Value& value, Bytes& out) {
  PayloadWriter::write_head(value, out);
  for (const Value& item : value.items) write(item, out);
}

Bytes write_payload(const Value& payload, std::vector<std::uint64_t>& shared) {
  PayloadWriter writer(shared);
  writer.write_value(payload);
  return writer.finish(shared);
}

std::optional<Token> extension_in(const Value& value) {
  Token token;
  Reader reader(value.leaf);
  if (value.type != TokenType::kExtension || !reader.next(token)) return {};
  return token;
}

std::optional<std::uint64_t> reference_in(const Value& value) {
  const auto token = extension_in(value);
  std::uint64_t number = 0;
  if (!token || token->ext_type != static_cast<std::int8_t>(ExtType::kReference) ||
      !wire::index_of(token->bytes, number)) {
    return {};
  }
  return number;
}

std::optional<wire::NodeTag> tag_in(const Value& value) {
  if (value.type != TokenType::kArray || value.items.empty()) return {};
  const auto token = extension_in(value.items[0]);
  if (!token || token->ext_type != static_cast<std::int8_t>(ExtType::kNode) ||
      token->bytes.size() != 1 || envelope::shape_of(token->bytes[0]) == nullptr) {
    return {};
  }
  return static_cast<wire::NodeTag>(token->bytes[0]);
}

}  // namespace waybill::fuzz
