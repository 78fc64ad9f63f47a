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

// What the interpreter runs; any Python can read it, and those before 3.11 have no -P.
// Modules of the current folder would come before those of Python: then looking at a
// stranger's folder would run what is in it. A Python without waybill has failed, as
// one that cannot be started.
constexpr const char* kStart =
    "import sys\n"
    "if sys.path[:1] == ['']:\n"
    "    del sys.path[0]\n"
    "try:\n"
    "    if sys.version_info < (3, 11):\n"
    "        raise ImportError('this is Python %d.%d; waybill needs 3.11 or newer'\n"
    "                          % sys.version_info[:2])\n"
    "    from waybill.__main__ import main\n"
    "except (ImportError, SyntaxError) as error:\n"
    "    detail = '%s: %s' % (sys.executable, error)\n"
    "    sys.stderr.write('waybill: %s\\n' % detail)\n"
    "    if '--json' in sys.argv:\n"
    "        import json\n"
    "        told = {'code': 'no_python', 'detail': detail}\n"
    "        print(json.dumps({'ok': False, 'error': told}, indent=2))\n"
    "    sys.exit(5)\n"
    "sys.exit(main())\n";

std::string interpreter(const Arguments& arguments) {
  if (arguments.python) return *arguments.python;
  const char* chosen = std::getenv("WAYBILL_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
}

}  // namespace

Exit become_python(const Arguments& arguments, std::vector<std::string> words) {
  words.insert(words.begin(), {interpreter(arguments), "-c", kStart});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  execvp(pointers[0], pointers.data());
  const std::string detail = std::string("cannot start ") + pointers[0] + ": " +
                             std::strerror(errno) + "; try --python";
  std::fprintf(stderr, "waybill: %s\n", detail.c_str());
  if (arguments.json) std::puts(failure_json("no_python", detail).c_str());
  return Exit::kRaisedInPython;
}

}  // namespace waybill::cli
