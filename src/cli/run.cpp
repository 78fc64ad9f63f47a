// waybill run FILE [ARGS]: loads an envelope and calls its object, in Python.
// Tested by tests/cli/test_run.py.

#include "cli/command.h"

namespace waybill::cli {
namespace {

void declare_run(Options& options, Arguments& arguments) {
  options.add_text("FILE", arguments.file, "An envelope, or - for stdin");
  options.add_text(
      "ARGS", arguments.call,
      "JSON: an array of positional arguments, or an object with args and kwargs");
  declare_keys(options, arguments);
  options.add_text("--policy FILE", arguments.policy_file,
                   "A file with the rules of a policy, which must allow it");
  options.add_texts("--rename OLD=NEW", arguments.renames,
                    "A module or name that was renamed: old.module=new.module");
  options.add_flag("--json", arguments.json, "Write one JSON object");
  declare_python(options, arguments);
}

Exit run_run(const Arguments& arguments) {
  std::vector<std::string> argv;
  for (const std::string& file : arguments.key_files) argv.push_back("--key=" + file);
  if (arguments.key_variable) argv.push_back("--key-env=" + *arguments.key_variable);
  if (arguments.policy_file) argv.push_back("--policy=" + *arguments.policy_file);
  for (const std::string& rule : arguments.renames) argv.push_back("--rename=" + rule);
  argv.insert(argv.end(), {"--", arguments.file});
  if (arguments.call) argv.push_back(*arguments.call);
  return exec_python(arguments, "run", argv);
}

}  // namespace

const Command kRun = {"run", "Load an envelope and call its object (runs Python)",
                      declare_run, run_run};

}  // namespace waybill::cli
