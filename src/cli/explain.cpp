// waybill explain FILE|MODULE:QUALNAME: which object accounts for how many bytes, and
// which cannot be sent. An object needs Python; an envelope does not.
// Tested by tests/cli/test_explain.py.

#include <cstdio>
#include <filesystem>

#include "cli/command.h"
#include "waybill/explanation.h"
#include "waybill/parts.h"

namespace waybill::cli {
namespace {

void declare_explain(Options& options, Arguments& arguments) {
  // Newer versions of CLI11 allow no colon in the name itself.
  options.add_text("TARGET", arguments.file,
                   "An envelope, or - for stdin; else MODULE:QUALNAME, e.g. job:task, "
                   "which runs Python");
  options.add_text("--html FILE", arguments.html,
                   "Write a page for a browser to this file");
  options.add_flag("--json", arguments.json, "Write one JSON object");
  options.add_count("--top N", arguments.top, "Parts and imports to show");
  declare_colours(options, arguments);
  declare_python(options, arguments);
}

// Whether the target names an object. An existing file takes precedence.
bool is_object(const std::string& target) {
  std::error_code error;
  return target.find(':') != std::string::npos &&
         !std::filesystem::exists(target, error);
}

Explanation explain_with_progress(const VerifiedEnvelope& envelope) {
  ProgressLine line((*envelope).payload.bytes.size());
  return explain_payload(envelope, [&](std::uint64_t done) { line.show(done); });
}

bool write_page(const Explanation& explanation, const Arguments& arguments) {
  const std::string page = explanation_html(explanation, arguments.file);
  return write_output(*arguments.html, arguments.json, {page.begin(), page.end()});
}

Exit run_explain(const Arguments& arguments) {
  if (arguments.html && (arguments.html->empty() || *arguments.html == "-")) {
    return report_usage_error("--html needs the name of a file", arguments.json);
  }
  if (is_object(arguments.file)) return exec_python(arguments);
  Input bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  const Result<VerifiedEnvelope> envelope = open_mapped(BytesView(bytes));
  if (!envelope) return report_error(envelope.error(), arguments.json);
  const Explanation explanation = explain_with_progress(*envelope);
  if (arguments.html && !write_page(explanation, arguments)) return Exit::kUnreadable;
  if (arguments.json) {
    std::printf("%s\n", explanation_json(explanation).c_str());
    return Exit::kSuccess;
  }
  ExplanationTextOptions options;
  options.top = arguments.top;
  options.colours = wants_colours(arguments);
  std::fputs(explanation_text(explanation, options).c_str(), stdout);
  return Exit::kSuccess;
}

}  // namespace

const Command kExplain = {"explain", "Show which objects account for how many bytes",
                          declare_explain, run_explain};

}  // namespace waybill::cli
