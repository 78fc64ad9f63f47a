// The encoding: four numbers per entry (start, length, target, depth << 1 | lasti),
// each in groups of 6 bits, the highest first. Bit 6 marks that another group follows,
// bit 7 the first byte of an entry. Offsets count units of 2 bytes.
// Tested by tests/bytecode/instruction_test.cpp.

#include "bytecode/exception_entries.h"

namespace waybill::bytecode {
namespace {

constexpr std::uint8_t kEntryStart = 0x80;
constexpr std::uint8_t kMoreFollows = 0x40;
constexpr int kMaxFieldGroups = 5;

}  // namespace

// False if the number is truncated or too long.
bool ExceptionReader::read_number(std::uint32_t& number) {
  number = 0;
  for (int groups = 0; groups < kMaxFieldGroups && at_ < table_.size(); ++groups) {
    const bool is_first = at_ == start_;
    const std::uint8_t byte = table_[at_++];
    if (((byte & kEntryStart) != 0) != is_first) return false;
    number = number << 6 | (byte & 0x3fu);
    if ((byte & kMoreFollows) == 0) return true;
  }
  return false;
}

bool ExceptionReader::next(ExceptionEntry& entry) {
  if (at_ >= table_.size()) return false;
  start_ = at_;
  std::uint32_t start, length, target, depth;
  if (!read_number(start) || !read_number(length) || !read_number(target) ||
      !read_number(depth)) {
    error_ = "the exception table ends inside an entry, or a start bit is wrong";
    return false;
  }
  const std::uint64_t first = std::uint64_t{start} * 2;
  const std::uint64_t end = first + std::uint64_t{length} * 2;
  if (first < previous_end_ || end > code_size_ ||
      std::uint64_t{target} * 2 >= code_size_) {
    error_ = "an exception table entry overlaps another or leaves the code";
    return false;
  }
  previous_end_ = end;
  entry = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end),
           target * 2, depth >> 1, (depth & 1) != 0};
  return true;
}

Result<std::vector<ExceptionEntry>> read_exception_entries(BytesView table,
                                                           std::size_t code_size) {
  std::vector<ExceptionEntry> entries;
  ExceptionReader reader(table, code_size);
  ExceptionEntry entry;
  while (reader.next(entry)) {
    if (entry.start != entry.end) entries.push_back(entry);
  }
  if (reader.error() == nullptr) return entries;
  return tl::unexpected(Error{ErrorCode::kMalformed, code_size, reader.error()});
}

}  // namespace waybill::bytecode
