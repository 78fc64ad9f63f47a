// The encoding: four numbers an entry (start, length, target, depth << 1 | lasti), each
// in groups of 6 bits, the highest first. Bit 6 says that another group follows, bit 7
// marks the first byte of an entry. Offsets count units of 2 bytes.
// Tested by tests/bytecode/instruction_test.cpp.

#include "bytecode/exception_entries.h"

#include <optional>

namespace waybill::bytecode {
namespace {

// Reads one number and moves `at` behind it; nothing when it is cut or too long.
std::optional<std::uint32_t> read_number(BytesView table, std::size_t& at) {
  std::uint32_t number = 0;
  for (int groups = 0; groups < 5 && at < table.size(); ++groups) {
    const std::uint8_t byte = table[at++];
    number = number << 6 | (byte & 0x3fu);
    if ((byte & 0x40) == 0) return number;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<ExceptionEntry>> read_exception_entries(BytesView table,
                                                           std::size_t code_size) {
  const auto malformed = [code_size](const char* detail) {
    return tl::unexpected(Error{ErrorCode::kMalformed, code_size, detail});
  };
  std::vector<ExceptionEntry> entries;
  std::uint64_t previous_end = 0;
  for (std::size_t at = 0; at < table.size();) {
    const auto start = read_number(table, at);
    const auto length = read_number(table, at);
    const auto target = read_number(table, at);
    const auto depth = read_number(table, at);
    if (!start || !length || !target || !depth) {
      return malformed("the exception table is cut inside an entry");
    }
    const std::uint64_t first = std::uint64_t{*start} * 2;
    const std::uint64_t end = first + std::uint64_t{*length} * 2;
    if (first < previous_end || end > code_size ||
        std::uint64_t{*target} * 2 >= code_size) {
      return malformed("an exception table entry overlaps another or leaves the code");
    }
    previous_end = end;
    if (first == end) continue;
    entries.push_back({static_cast<std::uint32_t>(first),
                       static_cast<std::uint32_t>(end), *target * 2, *depth >> 1,
                       (*depth & 1) != 0});
  }
  return entries;
}

}  // namespace waybill::bytecode
