// The waybill command. Links no Python: it works on the bytes of envelopes.
// Tested by tests/cli/test_inspect.py; docs/cli.md is its manual.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace waybill::cli {
namespace {

constexpr const Command* kCommands[] = {
    &kInspect,  &kVerify,  &kList, &kCat,     &kDiff,       &kKeygen, &kSign,
    &kDiscover, &kExplain, &kRun,  &kSalvage, &kCompletion, &kMan,    &kHelp};

// Whether a key was given instead of the name of its file. Error messages must not
// repeat it; the list of processes shows it already.
bool is_secret(std::string_view argument) {
  return argument.find("waybill-mac:") != argument.npos ||
         argument.find("waybill-ed25519-private:") != argument.npos;
}

// Unlike CLI11, reports unexpected arguments before missing ones.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extras = app.remaining(true);
  std::string text = error.what();
  if (!extras.empty()) {
    const bool is_option = extras[0].starts_with('-') && extras[0] != "-";
    text = (is_option ? "unknown option " : "unexpected argument ") + extras[0];
  }
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::string name = chosen.empty() ? "" : chosen[0]->get_name() + " ";
  return text + "; see waybill " + name + "--help";
}

// Fails if not all was written: the disk may be full, or the reader may have closed.
Exit flush_output(Exit code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::perror("waybill: stdout");
  return Exit::kUnreadable;
}

Exit run(const std::vector<std::string>& argv, bool json) {
  CLI::App app("Says what serialized Python callables are and what they need.",
               "waybill");
  app.require_subcommand(1);
  app.set_version_flag("--version", "waybill " WAYBILL_VERSION, "Print the version");
  if (std::any_of(argv.begin(), argv.end(), is_secret)) {
    return report_usage_error(
        "other users can see a key on the command line; give the name of its file "
        "(--key) or of an environment variable (--key-env)",
        json);
  }
  Arguments arguments;
  arguments.app = &app;
  const Command* chosen = nullptr;
  std::vector<std::string> names;
  for (const Command* command : kCommands) {
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    Options options(*sub);
    command->declare(options, arguments);
    sub->callback([&chosen, command] { chosen = command; });
    names.emplace_back(command->name);
  }
  if (argv.empty()) {
    return report_usage_error("a command is missing; see waybill --help", json);
  }
  const bool is_option = argv[0].starts_with('-');
  if (!is_option && std::ranges::find(names, argv[0]) == names.end()) {
    return report_usage_error(unknown_command_error(argv[0], names), json);
  }
  try {
    app.parse(std::vector<std::string>(argv.rbegin(), argv.rend()));
  } catch (const CLI::ParseError& error) {
    // CLI11 reports --help as an error with code 0.
    if (error.get_exit_code() != 0)
      return report_usage_error(usage_error(app, error), json);
    app.exit(error);
    return flush_output(Exit::kSuccess);
  }
  const Exit code = chosen->run(arguments);
  const bool has_failed = code != Exit::kSuccess && code != Exit::kDifferent;
  return has_failed ? code : flush_output(code);
}

}  // namespace
}  // namespace waybill::cli

int main(int argc, char** argv) {
  using namespace waybill::cli;
  const bool json = std::any_of(argv, argv + argc,
                                [](std::string_view text) { return text == "--json"; });
  try {
    const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    return static_cast<int>(run(arguments, json));
  } catch (const std::exception& error) {  // Mostly std::bad_alloc.
    return static_cast<int>(report_unreadable(error.what(), json));
  }
}
