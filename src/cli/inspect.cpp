// waybill inspect FILE: what an envelope needs and holds. Runs no Python.
// Tested by tests/cli/test_inspect.py.

#include <cstdio>

#include "cli/command.h"
#include "waybill/envelope.h"
#include "waybill/report.h"

namespace waybill::cli {
namespace {

constexpr std::size_t kMaxOutlineDepth = 64;  // The limit of ReportOptions.

void declare_inspect(Options& options, Arguments& arguments) {
  options.add_text("FILE", arguments.file, "An envelope, or - for stdin");
  options.add_flag("--json", arguments.json, "Write one JSON object");
  declare_colours(options, arguments);
  options.add_count("--depth N", arguments.depth, "Levels of nested containers to show",
                    kMaxOutlineDepth);
  options.add_count("--items N", arguments.items, "Items of each container to show");
  options.add_flag("--code,--disassemble", arguments.code,
                   "Show the instructions of code");
  options.add_flag("--source", arguments.source,
                   "Show the source that travels with code");
}

Exit run_inspect(const Arguments& arguments) {
  Input bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  const Result<Envelope> envelope = open_whole(bytes);
  if (!envelope) return report_error(envelope.error(), arguments.json);

  ReportOptions options;
  options.max_depth = arguments.depth;
  options.max_items = arguments.items;
  options.instructions = arguments.code;
  options.source = arguments.source;
  options.colours = wants_colours(arguments);
  if (arguments.json) {
    std::printf("%s\n", report_json(*envelope, options).c_str());
  } else {
    std::fputs(report_text(*envelope, options).c_str(), stdout);
  }
  return Exit::kSuccess;
}

}  // namespace

const Command kInspect = {"inspect", "Show what an envelope needs and holds",
                          declare_inspect, run_inspect};

}  // namespace waybill::cli
