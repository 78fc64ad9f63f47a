// Commands that need Python become `python3 -m waybill …`. This program links no
// libpython, which would tie it to one version.
// Tested by tests/cli/test_discover.py.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/command.h"

namespace waybill::cli {
namespace {

std::string interpreter(const Arguments& arguments) {
  if (!arguments.python.empty()) return arguments.python;
  const char* chosen = std::getenv("WAYBILL_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
}

}  // namespace

Exit become_python(const Arguments& arguments, std::vector<std::string> words) {
  words.insert(words.begin(), {interpreter(arguments), "-m", "waybill"});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  execvp(pointers[0], pointers.data());
  std::fprintf(stderr, "waybill: cannot start %s: %s; try --python\n", pointers[0],
               std::strerror(errno));
  return Exit::kRaisedInPython;
}

}  // namespace waybill::cli
