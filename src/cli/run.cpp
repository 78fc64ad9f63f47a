// waybill run FILE [ARGS]: loads an envelope and calls its object, in Python.
// Tested by tests/cli/test_run.py.

#include "cli/command.h"

namespace waybill::cli {
namespace {

void declare_run(Options& options, Arguments& arguments) {
  options.add_text("FILE", arguments.file, "An envelope, or - for stdin");
  options.pass_text(
      "ARGS",
      "JSON: an array of positional arguments, or an object with args and kwargs");
  declare_keys(options, arguments);
  options.pass_text("--policy FILE",
                    "A file with the rules of a policy, which must allow it");
  options.pass_texts("--rename OLD=NEW",
                     "A module or name that was renamed: old.module=new.module");
  options.add_flag("--json", arguments.json, "Write one JSON object");
  declare_python(options, arguments);
}

}  // namespace

const Command kRun = {"run", "Load an envelope and call its object (runs Python)",
                      declare_run, exec_python};

}  // namespace waybill::cli
