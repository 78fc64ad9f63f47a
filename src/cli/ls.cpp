// waybill ls FILE [PATH]: lists the parts of an envelope. Runs no Python, and reads no
// buffers.
// Tested by tests/cli/test_ls.py.

#include <cstdio>

#include "cli/command.h"
#include "cli/listing.h"

namespace waybill::cli {
namespace {

void declare_ls(Options& options, Arguments& arguments) {
  options.add_text("FILE", arguments.file, "An envelope, or - for stdin");
  declare_listing(options, arguments);
  options.add_flag("--json", arguments.json, "Write one JSON object");
  declare_keys(options, arguments);
}

Exit run_ls(const Arguments& arguments) {
  const Result<KeyRing> keys = read_keys(arguments);
  if (!keys) return report_error(keys.error(), arguments.json);
  Input bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  const Result<VerifiedEnvelope> envelope = open_signed(bytes, *keys);
  if (!envelope) return report_error(envelope.error(), arguments.json);
  const Result<std::vector<ListedPart>> parts = list_parts(*envelope, arguments);
  if (!parts) return report_error(parts.error(), arguments.json);
  if (!arguments.json) {
    print_parts(*parts);
    return Exit::kSuccess;
  }
  std::puts(parts_json(true, {}, *parts).c_str());
  return Exit::kSuccess;
}

}  // namespace

const Command kList = {"ls", "List the parts of an envelope", declare_ls, run_ls};

}  // namespace waybill::cli
