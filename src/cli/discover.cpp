// waybill discover TARGET: which modules code needs. Runs Python, which has the code.
// Tested by tests/cli/test_discover.py and test_survey.py.

#include "cli/command.h"

namespace waybill::cli {
namespace {

void declare_discover(Options& options, Arguments& arguments) {
  // Newer versions of CLI11 allow no colon in the name itself.
  options.add_text(
      "TARGET", arguments.target,
      "MODULE:QUALNAME, e.g. json:JSONDecoder.decode; a module; a folder or file of "
      "Python source");
  options.add_text("--package NAME", arguments.package,
                   "All modules of an installed package");
  options.add_flag("--static", arguments.is_static, "Compile modules, and import none");
  options.add_flag("--import", arguments.imports,
                   "Import the modules of a folder or file too");
  options.add_texts("--skip PATTERN", arguments.skip,
                    "Modules to leave out: a name in their path, or a pattern");
  options.add_count("--items N", arguments.items, "Rows to show");
  options.add_flag("--json", arguments.json, "Write JSON");
  declare_colours(options, arguments);
  declare_python(options, arguments);
}

Exit run_discover(const Arguments& arguments) {
  std::vector<std::string> argv;
  if (arguments.is_static) argv.push_back("--static");
  if (arguments.imports) argv.push_back("--import");
  if (arguments.package) argv.push_back("--package=" + *arguments.package);
  for (const std::string& pattern : arguments.skip) argv.push_back("--skip=" + pattern);
  argv.push_back("--items=" + std::to_string(arguments.items));
  if (arguments.target) {
    // A target that starts with a dash is not an option.
    argv.push_back("--");
    argv.push_back(*arguments.target);
  }
  return exec_python(arguments, "discover", argv);
}

}  // namespace

const Command kDiscover = {"discover", "Show which modules code needs (runs Python)",
                           declare_discover, run_discover};

}  // namespace waybill::cli
