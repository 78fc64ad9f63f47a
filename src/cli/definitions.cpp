// Tested by tests/cli/test_completion.py and test_man.py.

#include "cli/definitions.h"

#include <algorithm>
#include <iterator>

#include <CLI/CLI.hpp>

namespace waybill::cli {
namespace {

constexpr auto kAll = [](const CLI::App*) { return true; };

// What an argument may be, by its name.
std::vector<std::string> choices_of(const std::string& name, const CLI::App& app) {
  if (name == "SHELL") return {std::begin(kShells), std::end(kShells)};
  std::vector<std::string> commands;
  if (name != "COMMAND") return commands;
  for (const CLI::App* sub : app.get_subcommands(kAll)) {
    commands.push_back(sub->get_name());
  }
  return commands;
}

OptionInfo info_of(const CLI::Option& option, const CLI::App& app) {
  OptionInfo info;
  info.is_positional = option.get_positional();
  info.is_required = option.get_required();
  info.is_repeatable = option.get_items_expected_max() > 1;
  info.description = option.get_description();
  if (info.is_positional) {
    info.names.push_back(option.get_name(true));
    info.value = info.names[0];
    info.choices = choices_of(info.value, app);
    return info;
  }
  if (option.get_items_expected_max() != 0) info.value = option.get_type_name();
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  return info;
}

void add_options(const CLI::App& from, const CLI::App& app,
                 std::vector<OptionInfo>& options) {
  for (const CLI::Option* option : from.get_options({})) {
    OptionInfo found = info_of(*option, app);
    // Groups of options are told with the command by some versions, and apart by
    // others.
    const bool is_known = std::any_of(
        options.begin(), options.end(),
        [&](const OptionInfo& other) { return other.names == found.names; });
    if (!is_known) options.push_back(std::move(found));
  }
}

}  // namespace

std::vector<CommandInfo> definitions(const CLI::App& app) {
  std::vector<CommandInfo> commands;
  for (const CLI::App* sub : app.get_subcommands(kAll)) {
    CommandInfo& info = commands.emplace_back();
    info.name = sub->get_name();
    info.summary = sub->get_description();
    add_options(*sub, app, info.options);
    for (const CLI::App* group : sub->get_subcommands(kAll)) {
      add_options(*group, app, info.options);
    }
  }
  return commands;
}

std::vector<OptionInfo> top_options(const CLI::App& app) {
  std::vector<OptionInfo> options;
  add_options(app, app, options);
  return options;
}

std::string help_text(const CLI::App& app, const std::string& command) {
  const CLI::App* asked = command.empty() ? &app : app.get_subcommand(command);
  const std::string name = command.empty() ? "waybill" : "waybill " + command;
  return app.get_formatter()->make_help(asked, name, CLI::AppFormatMode::Normal);
}

}  // namespace waybill::cli
