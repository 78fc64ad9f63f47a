// The waybill command. Links no Python: what can be told about an envelope is told from
// its bytes.
// Tested by tests/cli/test_inspect.py; docs/cli.md is its manual.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace waybill::cli {
namespace {

constexpr const Command* kCommands[] = {&kInspect,    &kVerify, &kCat,      &kDiff,
                                        &kKeygen,     &kSign,   &kDiscover, &kRun,
                                        &kCompletion, &kMan};

// A key in the place of a file's name. It would be told in errors, and the list of
// processes tells it already.
bool is_secret(std::string_view argument) {
  return argument.find("waybill-mac:") != argument.npos ||
         argument.find("waybill-ed25519-private:") != argument.npos;
}

Exit run(int argc, char** argv) {
  CLI::App app("Says what serialized Python callables are and what they need.",
               "waybill");
  app.require_subcommand(1);
  app.set_version_flag("--version", "waybill " WAYBILL_VERSION);
  if (std::any_of(argv + 1, argv + argc, is_secret)) {
    std::fputs(
        "waybill: a key is no argument, since others can see those; give the name of "
        "its file (--key) or of an environment variable (--key-env)\n",
        stderr);
    return Exit::kUsage;
  }
  Arguments arguments;
  arguments.app = &app;
  const Command* chosen = nullptr;
  for (const Command* command : kCommands) {
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    Options options(*sub);
    command->declare(options, arguments);
    sub->callback([&chosen, command] { chosen = command; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Asking for help is fine; CLI11 has a number of its own for each mistake.
    return app.exit(error) == 0 ? Exit::kFine : Exit::kUsage;
  }
  const Exit code = chosen->run(arguments);
  const bool is_told = code != Exit::kFine && code != Exit::kDifferent;
  if (is_told || (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)) return code;
  std::perror("waybill: stdout");  // A disk that is full.
  return Exit::kUnreadable;
}

}  // namespace
}  // namespace waybill::cli

int main(int argc, char** argv) {
  try {
    return static_cast<int>(waybill::cli::run(argc, argv));
  } catch (const std::exception& error) {  // Of the libraries: no memory, mostly.
    std::fprintf(stderr, "waybill: %s\n", error.what());
    return static_cast<int>(waybill::cli::Exit::kUnreadable);
  }
}
