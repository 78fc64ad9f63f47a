// waybill run FILE [ARGS]: loads an envelope and calls what is in it, in a Python.
// Tested by tests/cli/test_run.py.

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace waybill::cli {
namespace {

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("FILE", arguments.file, "An envelope, or - for stdin")->required();
  app.add_option("ARGS", arguments.call,
                 "JSON: an array of positional arguments, or an object with args and "
                 "kwargs");
  app.add_option(
         "--key", arguments.key_files,
         "A file with a public key or MAC key, one of which must have signed it")
      ->allow_extra_args(false);
  app.add_option("--key-env", arguments.key_variable,
                 "The name of an environment variable with such keys");
  app.add_option("--policy", arguments.policy_file,
                 "A file with the rules of a policy, which must allow it");
  app.add_flag("--json", arguments.json, "Write one JSON object");
  app.add_option("--python", arguments.python,
                 "The interpreter; else $WAYBILL_PYTHON, else python3");
}

Exit run(const Arguments& arguments) {
  std::vector<std::string> words = {"run"};
  if (arguments.json) words.push_back("--json");
  for (const std::string& file : arguments.key_files) words.push_back("--key=" + file);
  if (!arguments.key_variable.empty()) {
    words.push_back("--key-env=" + arguments.key_variable);
  }
  if (!arguments.policy_file.empty()) {
    words.push_back("--policy=" + arguments.policy_file);
  }
  words.insert(words.end(), {"--", arguments.file});
  if (!arguments.call.empty()) words.push_back(arguments.call);
  return become_python(arguments, std::move(words));
}

}  // namespace

const Command kRun = {"run", "Load an envelope and call what is in it (runs Python)",
                      declare, run};

}  // namespace waybill::cli
