// waybill discover MODULE:QUALNAME: which modules a function needs.
//
// That question needs the function, and so Python. This program links no libpython,
// which would tie it to one version: it becomes `python3 -m waybill discover …`.
// Tested by tests/cli/test_discover.py.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace waybill::cli {
namespace {

void declare(CLI::App& app, Arguments& arguments) {
  // Newer versions of CLI11 allow no colon in the name itself.
  app.add_option("TARGET", arguments.target,
                 "MODULE:QUALNAME, e.g. json:JSONDecoder.decode")
      ->required();
  app.add_flag("--json", arguments.json, "Write a JSON array");
  app.add_option("--python", arguments.python,
                 "The interpreter; else $WAYBILL_PYTHON, else python3");
}

std::string interpreter(const Arguments& arguments) {
  if (!arguments.python.empty()) return arguments.python;
  const char* chosen = std::getenv("WAYBILL_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
}

Exit run(const Arguments& arguments) {
  std::vector<std::string> words = {interpreter(arguments), "-m", "waybill",
                                    "discover"};
  if (arguments.json) words.push_back("--json");
  // What starts with a dash is a target here, and should not become an option there.
  words.push_back("--");
  words.push_back(arguments.target);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  execvp(pointers[0], pointers.data());
  std::fprintf(stderr, "waybill: cannot start %s: %s; try --python\n", pointers[0],
               std::strerror(errno));
  return Exit::kRaisedInPython;
}

}  // namespace

const Command kDiscover = {
    "discover", "Show which modules a function needs (runs Python)", declare, run};

}  // namespace waybill::cli
