// Commands that need Python execute `python3 -m waybill …`. This program does not link
// libpython, which would tie it to one version. Tested by tests/cli/test_discover.py
// and tests/cli/test_interpreter.py.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/command.h"

namespace waybill::cli {
namespace {

// The program that Python runs, after a line `origin = '…'`. Written for any Python.
// Drops the current folder from sys.path, so that a stranger's folder cannot replace
// modules of Python; versions before 3.11 have no -P. A Python without waybill is an
// error like one that cannot be started.
constexpr const char* kBootstrap =
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
    "        fault = {'code': 'no_python', 'detail': detail}\n"
    "        print(json.dumps({'ok': False, 'error': fault}, indent=2))\n"
    "    sys.exit(5)\n"
    "sys.exit(main())\n";

// A Python, and how it was chosen: text without quotes, for kBootstrap.
struct Interpreter {
  std::string program;
  std::string origin;
};

// The Python in the folder of this program, as in a virtual environment. Follows links
// to the program. Empty if there is none, or if the folder is unknown.
std::string python_beside() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error)
                                   .replace_filename("python3");
  if (error || access(path.c_str(), X_OK) != 0) return {};
  return path;
}

Interpreter choose_interpreter(const Arguments& arguments) {
  if (arguments.python) return {*arguments.python, "named by --python"};
  const char* chosen = std::getenv("WAYBILL_PYTHON");
  if (chosen != nullptr && *chosen != '\0') {
    return {chosen, "named by WAYBILL_PYTHON"};
  }
  const std::string beside = python_beside();
  if (!beside.empty()) return {beside, "beside the command"};
  return {"python3", "of PATH"};
}

// Makes the bytes stdin, by a temporary file without a name. False with errno set if it
// fails.
bool redirect_stdin(BytesView bytes) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr) return false;
  return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
         std::fflush(file) == 0 && std::fseek(file, 0, SEEK_SET) == 0 &&
         dup2(fileno(file), STDIN_FILENO) == STDIN_FILENO;
}

}  // namespace

void declare_python(Options& options, Arguments& arguments) {
  options.add_text(
      "--python PROGRAM", arguments.python,
      "The interpreter; by default $WAYBILL_PYTHON, else python3 beside the "
      "command, else that of PATH");
}

Exit exec_python(const Arguments& arguments, std::vector<std::string> argv,
                 std::optional<BytesView> input) {
  if (input && !redirect_stdin(*input)) {
    return report_unreadable(
        "cannot write a temporary file: " + std::string(std::strerror(errno)),
        arguments.json);
  }
  const auto [program, origin] = choose_interpreter(arguments);
  argv.insert(argv.begin(),
              {program, "-c", "origin = '" + origin + "'\n" + kBootstrap});
  std::vector<char*> pointers;
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);

  execvp(pointers[0], pointers.data());
  const std::string detail = "cannot start " + program + " (" + origin +
                             "): " + std::strerror(errno) + "; try --python";
  return report_failure(Exit::kRaisedInPython, "no_python", detail, arguments.json);
}

Exit exec_python(const Arguments& arguments) {
  return exec_python(arguments, parsed_arguments(*arguments.app, "--python"));
}

}  // namespace waybill::cli
