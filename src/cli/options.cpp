// Declares options to CLI11, and reads declarations back as data.
// Tested by tests/cli/test_completion.py, test_man.py and the tests of the commands.

#include "cli/options.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

#include <CLI/CLI.hpp>

namespace waybill::cli {
namespace {

// The parts of a declared name: "--depth" and "N"; "FILE" and "" for a positional
// argument, whose value has no other name.
std::string option_in(std::string_view declared) {
  return std::string(declared.substr(0, declared.find(' ')));
}
std::string value_in(std::string_view declared) {
  const std::size_t space = declared.find(' ');
  return space == declared.npos ? "" : std::string(declared.substr(space + 1));
}

template <typename Number>
bool read_number(std::string_view text, Number& into) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, into);
  return error == std::errc() && stopped == end;
}

// Unlike CLI11, refuses 0x10, and does not show the bounds of the type.
template <typename Number>
void add_bounded(CLI::App& app, const char* name, Number& into, Number lowest,
                 Number highest, std::string description) {
  const bool is_bounded = highest != std::numeric_limits<Number>::max();
  const std::string bounds =
      std::to_string(lowest) + (is_bounded ? " to " + std::to_string(highest) : " on");
  description += "; from " + bounds + ", default " + std::to_string(into);
  const auto check = [=](std::string& text) -> std::string {
    Number number{};
    const bool is_valid =
        read_number(text, number) && lowest <= number && number <= highest;
    return is_valid ? "" : text + " is not a number from " + bounds;
  };
  app.add_option_function<std::string>(
         option_in(name), [&into](const std::string& text) { read_number(text, into); },
         description)
      ->type_name(value_in(name))
      ->check(CLI::Validator(check, ""));
}

constexpr auto kAnySubcommand = [](const CLI::App*) { return true; };

// The possible values of a positional argument, by its name.
std::vector<std::string> choices_of(const std::string& name, const CLI::App& app) {
  if (name == "SHELL") return {std::begin(kShells), std::end(kShells)};
  std::vector<std::string> commands;
  if (name != "COMMAND") return commands;
  for (const CLI::App* sub : app.get_subcommands(kAnySubcommand)) {
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
    OptionInfo info = info_of(*option, app);
    // Some versions of CLI11 list the options of groups with the command, too.
    const bool is_listed =
        std::any_of(options.begin(), options.end(),
                    [&](const OptionInfo& other) { return other.names == info.names; });
    if (!is_listed) options.push_back(std::move(info));
  }
}

}  // namespace

void Options::add_flag(const char* name, bool& into, const char* description) {
  app_.add_flag(name, into, description);
}

void Options::add_text(const char* name, std::string& into, const char* description) {
  app_.add_option(option_in(name), into, description)
      ->type_name(value_in(name))
      ->required();
}

void Options::add_text(const char* name, std::optional<std::string>& into,
                       const char* description, Need need) {
  app_.add_option_function<std::string>(
          option_in(name), [&into](const std::string& text) { into = text; },
          description)
      ->type_name(value_in(name))
      ->required(need == Need::kRequired);
}

void Options::add_texts(const char* name, std::vector<std::string>& into,
                        const char* description) {
  app_.add_option(option_in(name), into, description)
      ->type_name(value_in(name))
      ->allow_extra_args(false);
}

void Options::add_choice(const char* name, std::string& into,
                         std::span<const char* const> choices,
                         const char* description) {
  const auto check = [choices, description](std::string& text) -> std::string {
    const bool is_valid = std::ranges::find(choices, text) != choices.end();
    return is_valid ? "" : text + " is not one of " + description;
  };
  app_.add_option(option_in(name), into, description)
      ->type_name(value_in(name))
      ->required()
      ->check(CLI::Validator(check, ""));
}

void Options::add_count(const char* name, std::size_t& into, const char* description,
                        std::size_t highest) {
  add_bounded(app_, name, into, std::size_t{0}, highest, description);
}

void Options::add_number(const char* name, int& into, int lowest, int highest,
                         const char* description) {
  add_bounded(app_, name, into, lowest, highest, description);
}

void Options::pass_flag(const char* name, const char* description) {
  app_.add_flag_callback(name, [] {}, description);
}

void Options::pass_text(const char* name, const char* description) {
  app_.add_option_function<std::string>(
          option_in(name), [](const std::string&) {}, description)
      ->type_name(value_in(name));
}

void Options::pass_texts(const char* name, const char* description) {
  app_.add_option_function<std::vector<std::string>>(
          option_in(name), [](const std::vector<std::string>&) {}, description)
      ->type_name(value_in(name))
      ->allow_extra_args(false);
}

Options Options::add_exclusive_group(const char* what) {
  return Options(*app_.add_option_group(what)->require_option(1));
}

std::vector<CommandInfo> commands_of(const CLI::App& app) {
  std::vector<CommandInfo> commands;
  for (const CLI::App* sub : app.get_subcommands(kAnySubcommand)) {
    CommandInfo& info = commands.emplace_back();
    info.name = sub->get_name();
    info.summary = sub->get_description();
    add_options(*sub, app, info.options);
    for (const CLI::App* group : sub->get_subcommands(kAnySubcommand)) {
      add_options(*group, app, info.options);
    }
  }
  return commands;
}

std::vector<OptionInfo> top_options_of(const CLI::App& app) {
  std::vector<OptionInfo> options;
  add_options(app, app, options);
  return options;
}

std::string help_text(const CLI::App& app, const std::string& command) {
  const CLI::App* shown = command.empty() ? &app : app.get_subcommand(command);
  const std::string name = command.empty() ? "waybill" : "waybill " + command;
  return app.get_formatter()->make_help(shown, name, CLI::AppFormatMode::Normal);
}

std::vector<std::string> parsed_arguments(const CLI::App& app,
                                          std::string_view omitted) {
  const CLI::App* command = app.get_subcommands().front();
  std::vector<std::string> arguments = {command->get_name()};
  std::vector<std::string> positional = {"--"};
  for (const CLI::Option* option : command->get_options({})) {
    const std::string name = option->get_name();
    if (name == omitted) continue;
    const bool is_flag = option->get_items_expected_max() == 0;
    for (const std::string& value : option->results()) {
      if (option->get_positional()) {
        positional.push_back(value);
      } else if (!is_flag) {
        arguments.push_back(name + "=" + value);
      } else if (value == "true") {
        arguments.push_back(name);
      }
    }
  }
  arguments.insert(arguments.end(), positional.begin(), positional.end());
  return arguments;
}

}  // namespace waybill::cli
