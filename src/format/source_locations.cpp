// Tested by tests/verify/verify_code_test.cpp and tests/cli/test_inspect_code.py.

#include "format/source_locations.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/hash.h"
#include "format/code_body.h"
#include "format/manifest_codec.h"
#include "format/shapes.h"
#include "wire/format.h"

namespace waybill::envelope {
namespace {

using wire::NodeTag;
using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::uint64_t kFields = 4;

std::uint64_t hash_with(std::uint64_t before, const SourceLocation& location) {
  const auto* file = reinterpret_cast<const std::uint8_t*>(location.file.data());
  const std::uint64_t parts[] = {before, base::hash_of({file, location.file.size()}),
                                 location.first_line,
                                 base::hash_of(location.line_table.bytes)};
  return base::hash_of({reinterpret_cast<const std::uint8_t*>(parts), sizeof parts});
}

}  // namespace

std::vector<std::uint32_t> code_uses_of(const Envelope& envelope) {
  std::vector<std::uint32_t> uses;
  Reader reader(envelope.payload.bytes, Limits{}, envelope.payload.offset);
  Token token;
  while (!reader.at_end() && reader.next(token)) {
    std::uint8_t tag = 0;
    if (token.type != TokenType::kArray || token.count == 0 ||
        !reader.read_node_tag(tag) || !uses_code(tag)) {
      continue;
    }
    std::uint64_t index = 0;
    if (!reader.read_unsigned(index, UINT32_MAX, "a code index")) break;
    uses.push_back(static_cast<std::uint32_t>(index));
  }
  return uses;
}

std::vector<std::vector<std::uint32_t>> nested_of(const Envelope& envelope) {
  std::map<ContentHash, std::uint32_t> index_of_hash;
  std::vector<std::vector<std::uint32_t>> nested;
  for (const CodeBody& body : envelope.code) {
    index_of_hash.emplace(body.hash, static_cast<std::uint32_t>(nested.size()));
    std::vector<std::uint32_t>& found = nested.emplace_back();
    CodeFields fields;
    if (!read_code_body(body, fields)) continue;
    each_constant(fields.constants, [&](const Reader& constant, BytesView) {
      const auto bytes = nested_code(constant);
      ContentHash hash{};
      if (!bytes || bytes->size() != hash.size()) return;
      std::ranges::copy(*bytes, hash.begin());
      const auto inner = index_of_hash.find(hash);
      if (inner != index_of_hash.end()) found.push_back(inner->second);
    });
  }
  return nested;
}

bool SourceLocationReader::fail(std::size_t offset, std::string detail) {
  return reader_.fail(ErrorCode::kMalformed, offset, std::move(detail));
}

bool SourceLocationReader::next(SourceLocation& location) {
  if (!is_started_ && !start()) return false;
  if (open_.empty() && done_ == count_) return finish();
  location.depth = open_.size();
  Token token;
  if (!reader_.next(token) || !find_code(location, token.offset)) return false;
  if (open_.empty()) {
    ++done_;
  } else {
    --open_.back().left;
  }
  location.is_repeat = token.type == TokenType::kInteger;
  if (location.is_repeat) return read_repeat(location, token.integer, token.offset);
  if (token.type != TokenType::kArray || token.count != kFields) {
    return fail(
        token.offset,
        "a source location should have file, line, line table and nested locations");
  }
  std::uint64_t line = 0;
  if (!read_file(location.file)) return false;
  location.after_file = reader_.offset();
  if (!reader_.read_unsigned(line, INT32_MAX, "the first line of a source location") ||
      !reader_.read_binary(location.line_table.bytes, "a line table")) {
    return false;
  }
  location.first_line = static_cast<std::uint32_t>(line);
  location.line_table.offset = reader_.offset() - location.line_table.bytes.size();
  return read_nested(location);
}

bool SourceLocationReader::read_key(std::uint64_t& key) {
  const std::size_t offset = reader_.offset();
  if (!reader_.read_unsigned(key, UINT32_MAX, "a key of the debug information")) {
    return false;
  }
  --keys_left_;
  if (key < next_key_) {
    return fail(offset, "the keys of the debug information should ascend");
  }
  next_key_ = key + 1;
  return true;
}

// Reads the debug information up to the first location.
bool SourceLocationReader::start() {
  is_started_ = true;
  if (!reader_.read_map(keys_left_, "the debug information")) return false;
  std::uint64_t key = 0;
  while (keys_left_ != 0) {
    if (!read_key(key)) return false;
    if (key != static_cast<std::uint64_t>(wire::DebugInfoKey::kSourceLocations)) {
      if (!skip_part(key)) return false;
      continue;
    }
    const std::size_t offset = reader_.offset();
    if (!reader_.read_array(count_, "the source locations")) return false;
    return code_ == nullptr || count_ == code_->uses.size() ||
           fail(offset, "there are " + std::to_string(count_) +
                            " source locations for " +
                            std::to_string(code_->uses.size()) + " uses of code");
  }
  return true;
}

// Reads the rest after the last location. Returns false, for next().
bool SourceLocationReader::finish() {
  std::uint64_t key = 0;
  while (keys_left_ != 0 && read_key(key) && skip_part(key)) {
  }
  return false;
}

bool SourceLocationReader::skip_part(std::uint64_t key) {
  const std::size_t offset = reader_.offset();
  const BytesView rest = reader_.rest();
  if (!reader_.skip()) return false;
  if (key == static_cast<std::uint64_t>(wire::DebugInfoKey::kSources)) {
    sources_ = {offset, rest.first(reader_.offset() - offset)};
  }
  return true;
}

bool SourceLocationReader::find_code(SourceLocation& location, std::size_t offset) {
  if (code_ == nullptr) return true;
  if (open_.empty()) {
    location.code = code_->uses[done_];
  } else {
    const std::vector<std::uint32_t>& nested = code_->nested[open_.back().code];
    location.code = nested[nested.size() - open_.back().left];
  }
  return location.code < code_->nested.size() ||
         fail(offset, "a source location belongs to code that does not exist");
}

bool SourceLocationReader::read_repeat(SourceLocation& location, std::int64_t earlier,
                                       std::size_t offset) {
  // done_ includes this location.
  const bool is_valid =
      earlier >= 0 && static_cast<std::uint64_t>(earlier) + 1 < done_ &&
      (code_ == nullptr ||
       code_->uses[static_cast<std::size_t>(earlier)] == location.code);
  location.earlier = static_cast<std::size_t>(earlier);
  close();
  return is_valid ||
         fail(offset, "a source location should repeat an earlier one of its code");
}

bool SourceLocationReader::read_file(std::string_view& file) {
  if (!open_.empty() && reader_.read_nil()) {
    file = open_.back().file;
    return true;
  }
  const bool is_same = open_.empty() && file_.data() != nullptr;
  if (!is_same || !reader_.skip_byte(wire::kSameFile)) {
    if (!read_any_text(reader_, file, "the file of a source location")) return false;
    if (open_.empty()) file_ = file;
    return true;
  }
  file = file_;
  return true;
}

bool SourceLocationReader::read_nested(const SourceLocation& location) {
  const std::size_t offset = reader_.offset();
  std::uint64_t count = 0;
  if (!reader_.read_array(count, "the nested source locations")) return false;
  if (code_ != nullptr && count != code_->nested[location.code].size()) {
    return fail(offset, "there are " + std::to_string(count) +
                            " nested source locations for " +
                            std::to_string(code_->nested[location.code].size()) +
                            " nested code objects");
  }
  if (count != 0) open_.push_back({count, location.file, location.code});
  close();
  return true;
}

void SourceLocationReader::close() {
  while (!open_.empty() && open_.back().left == 0) open_.pop_back();
}

Section sources_section(const Envelope& envelope) {
  Reader reader(envelope.debug_info.bytes, Limits{}, envelope.debug_info.offset);
  SourceLocationReader locations(reader, first_file(envelope.manifest));
  SourceLocation location;
  while (locations.next(location)) {
  }
  return locations.sources();
}

std::vector<FirstLocation> first_locations(const Envelope& envelope) {
  const std::vector<std::uint32_t> uses = code_uses_of(envelope);
  const std::vector<std::vector<std::uint32_t>> nested = nested_of(envelope);
  const CodeTree code{uses, nested};
  std::vector<FirstLocation> found(envelope.code.size());
  Reader reader(envelope.debug_info.bytes, Limits{}, envelope.debug_info.offset);
  SourceLocationReader locations(reader, first_file(envelope.manifest), &code);
  SourceLocation location;
  while (locations.next(location)) {
    if (location.is_repeat) continue;
    FirstLocation& first = found[location.code];
    if (first.is_known) {
      first.later = hash_with(first.later, location);
    } else {
      first = {location, true, 0};
    }
  }
  return found;
}

}  // namespace waybill::envelope
