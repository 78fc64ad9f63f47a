// The encoding, since CPython 3.11: a sequence of entries. Bit 7 marks the first byte
// of each. Below it are four bits for the form, and three for the number of covered
// units minus one. The form decides what follows: columns in one byte, in two, or
// numbers in groups of 6 bits, of which bit 6 marks that another group follows.
// Tested by tests/bytecode/line_table_test.cpp.

#include "bytecode/line_table.h"

#include <algorithm>
#include <cstdint>

namespace waybill::bytecode {
namespace {

constexpr std::uint8_t kFirst = 0x80;
constexpr std::uint8_t kMore = 0x40;
// Groups of a number: 32 bits and a sign.
constexpr int kMaxGroups = 6;

// The bytes after the first byte of an entry: `bytes` single bytes, then `numbers`
// numbers.
struct Form {
  std::uint8_t bytes;
  std::uint8_t numbers;
};

constexpr Form form_of(std::uint8_t first) {
  const unsigned code = first >> 3 & 15u;
  if (code < 10) return {1, 0};   // Short form: both columns.
  if (code < 13) return {2, 0};   // One-line form: a near line, both columns.
  if (code == 13) return {0, 1};  // No columns: a line.
  if (code == 14) return {0, 4};  // Long form: lines and columns.
  return {0, 0};                  // No location.
}

// Skip one byte, or one number, of an entry; false if it is incomplete.
bool skip_byte(BytesView table, std::size_t& at) {
  return at < table.size() && (table[at++] & kFirst) == 0;
}

bool skip_number(BytesView table, std::size_t& at) {
  for (int groups = 0; groups < kMaxGroups; ++groups) {
    if (!skip_byte(table, at)) return false;
    if ((table[at - 1] & kMore) == 0) return true;
  }
  return false;
}

bool skip_entry(BytesView table, std::size_t& at) {
  Form form = form_of(table[at++]);
  for (; form.bytes != 0; --form.bytes) {
    if (!skip_byte(table, at)) return false;
  }
  for (; form.numbers != 0; --form.numbers) {
    if (!skip_number(table, at)) return false;
  }
  return true;
}

// The signed number after the first byte of an entry; its sign is bit 0.
std::int64_t line_step(BytesView table, std::size_t at) {
  std::uint64_t number = 0;
  for (int groups = 0; groups < kMaxGroups; ++groups) {
    number |= std::uint64_t{table[at + groups] & 0x3fu} << (6 * groups);
    if ((table[at + groups] & kMore) == 0) break;
  }
  const auto size = static_cast<std::int64_t>(static_cast<std::uint32_t>(number >> 1));
  return (number & 1) != 0 ? -size : size;
}

}  // namespace

bool LineReader::next(std::size_t& units, std::int64_t& line) {
  const std::size_t start = at_;
  if (start >= table_.size() || (table_[start] & kFirst) == 0) return false;
  if (!skip_entry(table_, at_)) {
    at_ = table_.size();
    return false;
  }
  const unsigned code = table_[start] >> 3 & 15u;
  const bool is_close = code >= 10 && code < 13;
  if (is_close) line_ += code - 10;
  if (code == 13 || code == 14) line_ += line_step(table_, start + 1);
  units = (table_[start] & 7u) + 1;
  line = code == 15 ? 0 : line_;
  return true;
}

Result<void> check_line_table(BytesView table, std::size_t units) {
  const auto malformed = [](std::size_t at, const char* detail) {
    return tl::unexpected(Error{ErrorCode::kMalformed, at, detail});
  };
  std::size_t covered = 0;
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t start = at;
    if ((table[at] & kFirst) == 0) {
      return malformed(at, "an entry of the line table should begin here");
    }
    covered += (table[at] & 7u) + 1;
    if (!skip_entry(table, at)) {
      return malformed(start, "an entry of the line table is cut, or too long");
    }
    if (covered > units) {
      return malformed(start, "the line table covers more code than there is");
    }
  }
  return {};
}

CodeLines::CodeLines(BytesView table, std::int64_t first_line) {
  LineReader reader(table, first_line);
  std::size_t units = 0;
  Entry entry{0, 0};
  while (reader.next(units, entry.line)) {
    entry.end += units * 2;
    entries_.push_back(entry);
  }
}

std::int64_t CodeLines::at(std::size_t offset) const {
  const auto found = std::ranges::upper_bound(entries_, offset, {}, &Entry::end);
  return found == entries_.end() ? 0 : found->line;
}

}  // namespace waybill::bytecode
