// Commands that need Python become what `python3 -m waybill …` is. This program links
// no libpython, which would tie it to one version. Tested by
// tests/cli/test_discover.py and tests/cli/test_interpreter.py.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/command.h"

namespace waybill::cli {
namespace {

// What the interpreter runs; any Python can read it, and those before 3.11 have no -P.
// Modules of the current folder would come before those of Python: then looking at a
// stranger's folder would run what is in it. A Python without waybill has failed, as
// one that cannot be started. Before it stands `origin = '…'`.
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
    "    detail = '%s (%s): %s' % (sys.executable, origin, error)\n"
    "    sys.stderr.write('waybill: %s\\n' % detail)\n"
    "    if '--json' in sys.argv:\n"
    "        import json\n"
    "        told = {'code': 'no_python', 'detail': detail}\n"
    "        print(json.dumps({'ok': False, 'error': told}, indent=2))\n"
    "    sys.exit(5)\n"
    "sys.exit(main())\n";

// A Python, and why it is that one: words without quotes.
struct Interpreter {
  std::string program;
  std::string origin;
};

// The Python in the folder of this program, as a venv has both; links to the program
// are followed. Empty if there is none, or nobody tells where the program is.
std::string python_beside() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error)
                                   .replace_filename("python3");
  if (error || access(path.c_str(), X_OK) != 0) return {};
  return path;
}

Interpreter interpreter(const Arguments& arguments) {
  if (arguments.python) return {*arguments.python, "named by --python"};
  const char* chosen = std::getenv("WAYBILL_PYTHON");
  if (chosen != nullptr && *chosen != '\0') {
    return {chosen, "named by WAYBILL_PYTHON"};
  }
  const std::string beside = python_beside();
  if (!beside.empty()) return {beside, "beside the command"};
  return {"python3", "of PATH"};
}

// A file without a name, which goes with the process. False, with errno, if there is
// no room for it.
bool give_as_stdin(BytesView bytes) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) return false;
  return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
         std::fflush(file) == 0 && std::fseek(file, 0, SEEK_SET) == 0 &&
         dup2(fileno(file), STDIN_FILENO) == STDIN_FILENO;
}

}  // namespace

void declare_python(Options& options, Arguments& arguments) {
  options.text("--python", arguments.python,
               "The interpreter; else $WAYBILL_PYTHON, else python3 beside the "
               "command, else that of PATH");
}

Exit become_python(const Arguments& arguments, std::vector<std::string> words,
                   std::optional<BytesView> input) {
  if (input && !give_as_stdin(*input)) {
    return fail("a temporary file: " + std::string(std::strerror(errno)),
                arguments.json);
  }
  const auto [program, origin] = interpreter(arguments);
  words.insert(words.begin(), {program, "-c", "origin = '" + origin + "'\n" + kStart});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  execvp(pointers[0], pointers.data());
  const std::string detail = "cannot start " + program + " (" + origin +
                             "): " + std::strerror(errno) + "; try --python";
  std::fprintf(stderr, "waybill: %s\n", detail.c_str());
  if (arguments.json) std::puts(failure_json("no_python", detail).c_str());
  return Exit::kRaisedInPython;
}

}  // namespace waybill::cli
