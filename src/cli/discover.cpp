// waybill discover TARGET: which modules code needs. That question needs the code, and
// so Python.
// Tested by tests/cli/test_discover.py and test_survey.py.

#include "cli/command.h"

namespace waybill::cli {
namespace {

void declare_discover(Options& options, Arguments& arguments) {
  // Newer versions of CLI11 allow no colon in the name itself.
  options.text(
      "TARGET", arguments.target,
      "MODULE:QUALNAME, e.g. json:JSONDecoder.decode; a module; a folder or file of "
      "Python source");
  options.text("--package", arguments.package, "All modules of an installed package");
  options.flag("--static", arguments.is_static, "Compile modules, and import none");
  options.flag("--import", arguments.imports,
               "Import the modules of a folder or file too");
  options.texts("--skip", arguments.skip,
                "Modules to leave out: a name in their path, or a pattern");
  options.count("--items", arguments.items, "Rows to show");
  options.flag("--json", arguments.json, "Write JSON");
  options.flag("--no-colours", arguments.no_colours, "No colours, on terminals too");
  declare_python(options, arguments);
}

Exit run_discover(const Arguments& arguments) {
  std::vector<std::string> words = {"discover"};
  if (arguments.json) words.push_back("--json");
  if (arguments.no_colours) words.push_back("--no-colours");
  if (arguments.is_static) words.push_back("--static");
  if (arguments.imports) words.push_back("--import");
  if (arguments.package) words.push_back("--package=" + *arguments.package);
  for (const std::string& pattern : arguments.skip)
    words.push_back("--skip=" + pattern);
  words.push_back("--items=" + std::to_string(arguments.items));
  if (arguments.target) {
    // What starts with a dash is a target here, and should not become an option there.
    words.push_back("--");
    words.push_back(*arguments.target);
  }
  return become_python(arguments, std::move(words));
}

}  // namespace

const Command kDiscover = {"discover", "Show which modules code needs (runs Python)",
                           declare_discover, run_discover};

}  // namespace waybill::cli
