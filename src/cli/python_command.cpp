// Commands that need Python become what `python3 -m waybill …` is. This program links
// no libpython, which would tie it to one version. Tested by
// tests/cli/test_discover.py.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/command.h"

namespace waybill::cli {
namespace {

// What the interpreter runs. One without waybill has failed, as one that cannot be
// started; by itself, Python would end with what is a misunderstanding here.
constexpr const char* kStart =
    "import sys\n"
    "try:\n"
    "    from waybill.__main__ import main\n"
    "except (ImportError, SyntaxError) as error:\n"
    "    sys.exit(sys.stderr.write(f'waybill: {sys.executable}: {error}\\n') and 5)\n"
    "sys.exit(main())\n";

std::string interpreter(const Arguments& arguments) {
  if (arguments.python) return *arguments.python;
  const char* chosen = std::getenv("WAYBILL_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
}

}  // namespace

Exit become_python(const Arguments& arguments, std::vector<std::string> words) {
  // Without -P, modules of the current folder would come before those of Python: then
  // looking at a stranger's folder would run what is in it.
  words.insert(words.begin(), {interpreter(arguments), "-P", "-c", kStart});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  execvp(pointers[0], pointers.data());
  std::fprintf(stderr, "waybill: cannot start %s: %s; try --python\n", pointers[0],
               std::strerror(errno));
  return Exit::kRaisedInPython;
}

}  // namespace waybill::cli
