// waybill discover TARGET: which modules code needs. Runs Python, which has the code.
// Tested by tests/cli/test_discover.py and test_survey.py.

#include "cli/command.h"

namespace waybill::cli {
namespace {

void declare_discover(Options& options, Arguments& arguments) {
  // Newer versions of CLI11 allow no colon in the name itself.
  options.pass_text(
      "TARGET",
      "MODULE:QUALNAME, e.g. json:JSONDecoder.decode; a module; a folder or file of "
      "Python source");
  options.pass_text("--package NAME", "All modules of an installed package");
  options.pass_flag("--static", "Compile modules, and import none");
  options.pass_flag("--import", "Import the modules of a folder or file too");
  options.pass_texts("--skip PATTERN",
                     "Modules to leave out: a name in their path, or a pattern");
  options.add_count("--items N", arguments.items, "Rows to show");
  options.add_flag("--json", arguments.json, "Write JSON");
  declare_colours(options, arguments);
  declare_python(options, arguments);
}

}  // namespace

const Command kDiscover = {"discover", "Show which modules code needs (runs Python)",
                           declare_discover, exec_python};

}  // namespace waybill::cli
