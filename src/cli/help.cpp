// waybill help [COMMAND]: what --help prints.
// Tested by tests/cli/test_usage.py.

#include <algorithm>

#include "cli/command.h"

namespace waybill::cli {
namespace {

void declare_help(Options& options, Arguments& arguments) {
  options.add_text("COMMAND", arguments.asked_command,
                   "A command; by default the program");
  options.add_flag("--json", arguments.json, "Write one JSON object");
}

Exit run_help(const Arguments& arguments) {
  const std::string name = arguments.asked_command.value_or("");
  std::vector<std::string> names;
  for (const CommandInfo& command : commands_of(*arguments.app)) {
    names.push_back(command.name);
  }
  const bool is_command = std::ranges::find(names, name) != names.end();
  if (arguments.asked_command && !is_command) {
    return report_usage_error(unknown_command_error(name, names), arguments.json);
  }
  return print_text(help_text(*arguments.app, name), arguments.json);
}

}  // namespace

const Command kHelp = {"help", "Print the help of a command", declare_help, run_help};

}  // namespace waybill::cli
