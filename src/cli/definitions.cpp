// Tested by tests/cli/test_completion.py and test_man.py.

#include "cli/definitions.h"

#include <algorithm>
#include <iterator>

#include <CLI/CLI.hpp>

namespace waybill::cli {
namespace {

OptionInfo info_of(const CLI::Option& option, bool offers_shells) {
  OptionInfo info;
  info.is_positional = option.get_positional();
  info.is_required = option.get_required();
  info.takes_value = option.get_items_expected_max() != 0;
  info.description = option.get_description();
  if (info.is_positional) {
    info.names.push_back(option.get_name(true));
    if (offers_shells) info.choices.assign(std::begin(kShells), std::end(kShells));
    return info;
  }
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  return info;
}

void add_options(const CLI::App& app, CommandInfo& info) {
  for (const CLI::Option* option : app.get_options({})) {
    OptionInfo found = info_of(*option, info.name == kCompletion.name);
    // Groups of options are told with the command by some versions, and apart by
    // others.
    const bool is_known = std::any_of(
        info.options.begin(), info.options.end(),
        [&](const OptionInfo& other) { return other.names == found.names; });
    if (!is_known) info.options.push_back(std::move(found));
  }
}

}  // namespace

std::vector<CommandInfo> definitions(const CLI::App& app) {
  std::vector<CommandInfo> commands;
  for (const CLI::App* sub :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandInfo& info = commands.emplace_back();
    info.name = sub->get_name();
    info.summary = sub->get_description();
    add_options(*sub, info);
    for (const CLI::App* group :
         sub->get_subcommands([](const CLI::App*) { return true; })) {
      add_options(*group, info);
    }
  }
  return commands;
}

}  // namespace waybill::cli
