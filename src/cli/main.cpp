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

constexpr const Command* kCommands[] = {
    &kInspect,  &kVerify,  &kList, &kCat,     &kDiff,       &kKeygen, &kSign,
    &kDiscover, &kExplain, &kRun,  &kSalvage, &kCompletion, &kMan,    &kHelp};

// A key in the place of a file's name. It would be told in errors, and the list of
// processes tells it already.
bool is_secret(std::string_view argument) {
  return argument.find("waybill-mac:") != argument.npos ||
         argument.find("waybill-ed25519-private:") != argument.npos;
}

// CLI11 would say first what is missing, and what is too much only then.
std::string mistake(const CLI::App& app, const CLI::ParseError& error) {
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

// A disk may be full, a reader gone.
Exit after_output(Exit code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::perror("waybill: stdout");
  return Exit::kUnreadable;
}

Exit run(const std::vector<std::string>& words, bool json) {
  CLI::App app("Says what serialized Python callables are and what they need.",
               "waybill");
  app.require_subcommand(1);
  app.set_version_flag("--version", "waybill " WAYBILL_VERSION, "Print the version");
  if (std::any_of(words.begin(), words.end(), is_secret)) {
    return misunderstand(
        "a key is no argument, since others can see those; give the name of its file "
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
  if (words.empty()) {
    return misunderstand("a command is missing; see waybill --help", json);
  }
  const bool is_option = words[0].starts_with('-');
  if (!is_option && std::ranges::find(names, words[0]) == names.end()) {
    return misunderstand(unknown_command(words[0], names), json);
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    // Asking for help is fine; CLI11 has a number of its own for each mistake.
    if (error.get_exit_code() != 0) return misunderstand(mistake(app, error), json);
    app.exit(error);
    return after_output(Exit::kFine);
  }
  const Exit code = chosen->run(arguments);
  const bool is_told = code != Exit::kFine && code != Exit::kDifferent;
  return is_told ? code : after_output(code);
}

}  // namespace
}  // namespace waybill::cli

int main(int argc, char** argv) {
  using namespace waybill::cli;
  const bool json = std::any_of(argv, argv + argc,
                                [](std::string_view word) { return word == "--json"; });
  try {
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    return static_cast<int>(run(words, json));
  } catch (const std::exception& error) {  // Of the libraries: no memory, mostly.
    return static_cast<int>(fail(error.what(), json));
  }
}
