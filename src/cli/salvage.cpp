// waybill salvage FILE: which parts of a truncated or altered file can still be read.
// Runs no Python. Tested by tests/cli/test_salvage.py.

#include <algorithm>
#include <cstdio>

#include "cli/command.h"
#include "cli/listing.h"
#include "waybill/parts.h"

namespace waybill::cli {
namespace {

void declare_salvage(Options& options, Arguments& arguments) {
  options.add_text("FILE", arguments.file, "An envelope, or the start of one");
  declare_listing(options, arguments);
  options.add_flag("--json", arguments.json, "Write one JSON object");
}

// Whether each stored buffer is complete and unaltered.
std::vector<bool> check_each_buffer(const Envelope& envelope) {
  std::vector<bool> are_whole;
  ProgressLine line(envelope.size);
  for (const StoredBuffer& row : envelope.buffers) {
    const std::uint64_t offset = envelope.buffers_offset + row.offset;
    const auto show = [&](std::uint64_t done) { line.show(offset + done); };
    are_whole.push_back(check_buffer(row, row.bytes, offset, show).has_value());
  }
  return are_whole;
}

bool is_whole(const Part& part, const std::vector<bool>& buffers) {
  if (part.array && part.array->buffer && !buffers[*part.array->buffer]) return false;
  return std::ranges::all_of(part.buffers,
                             [&](std::size_t number) { return buffers[number]; });
}

Exit run_salvage(const Arguments& arguments) {
  Input bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  const Result<VerifiedEnvelope> envelope =
      open_mapped(bytes, bytes, Limits{}, FileEnd::kCut);
  if (!envelope) return report_error(envelope.error(), arguments.json);
  const Result<std::vector<ListedPart>> parts = list_parts(*envelope, arguments);
  if (!parts) return report_error(parts.error(), arguments.json);
  const std::vector<bool> buffers = check_each_buffer(*envelope);
  const auto lost = static_cast<std::size_t>(std::ranges::count(buffers, false));
  const std::size_t size = BytesView(bytes).size();
  const std::size_t missing = (*envelope)->size > size ? (*envelope)->size - size : 0;
  std::vector<std::string> states;
  for (const ListedPart& each : *parts) {
    states.push_back(is_whole(each.part, buffers) ? "whole" : "lost");
  }
  const bool is_complete = lost == 0 && missing == 0;
  if (arguments.json) {
    std::puts(parts_json(is_complete,
                         {{"missing_bytes", missing},
                          {"buffers", buffers.size()},
                          {"lost_buffers", lost}},
                         *parts, states)
                  .c_str());
  } else {
    std::printf("%zu of %zu buffers are whole, %zu bytes are missing\n\n",
                buffers.size() - lost, buffers.size(), missing);
    print_parts(*parts, states);
  }
  return is_complete ? Exit::kSuccess : Exit::kUnreadable;
}

}  // namespace

const Command kSalvage = {"salvage", "Show which parts of a damaged file can be read",
                          declare_salvage, run_salvage};

}  // namespace waybill::cli
