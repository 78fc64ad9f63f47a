// waybill diff A B: what differs between two envelopes, and why. Runs no Python.
// Tested by tests/cli/test_diff.py.

#include <cstdio>

#include "cli/command.h"
#include "waybill/diff.h"
#include "waybill/envelope.h"

namespace waybill::cli {
namespace {

void declare_diff(Options& options, Arguments& arguments) {
  options.add_text("A", arguments.file, "An envelope, or - for stdin");
  options.add_text("B", arguments.other_file, "Another one, or - for stdin");
  options.add_flag("--json", arguments.json, "Write one JSON object");
  declare_colours(options, arguments);
  options.add_count("--items N", arguments.items, "Differences of each kind to show");
}

Exit run_diff(const Arguments& arguments) {
  if (arguments.file == "-" && arguments.other_file == "-") {
    return report_usage_error("only one of A and B can be stdin", arguments.json);
  }
  Input old_bytes;
  Input new_bytes;
  if (!read_input(arguments.file, arguments.json, old_bytes) ||
      !read_input(arguments.other_file, arguments.json, new_bytes)) {
    return Exit::kUnreadable;
  }
  const Result<Envelope> old_envelope = open_whole(old_bytes);
  if (!old_envelope) return report_error(old_envelope.error(), arguments.json);
  const Result<Envelope> new_envelope = open_whole(new_bytes);
  if (!new_envelope) return report_error(new_envelope.error(), arguments.json);

  DiffOptions options;
  options.max_items = arguments.items;
  options.json = arguments.json;
  options.colours = wants_colours(arguments);
  const Diff found = diff(*old_envelope, *new_envelope, options);
  std::fputs(found.report.c_str(), stdout);
  if (arguments.json) std::fputs("\n", stdout);
  return found.differs ? Exit::kDifferent : Exit::kSuccess;
}

}  // namespace

const Command kDiff = {"diff", "Show what differs between two envelopes", declare_diff,
                       run_diff};

}  // namespace waybill::cli
