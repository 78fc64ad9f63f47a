#pragma once

// The command line as data, for what describes it: help, completions and the manual
// page.

#include <string>
#include <vector>

#include "cli/command.h"

namespace waybill::cli {

struct OptionInfo {
  std::vector<std::string> names;  // "--json", "-o"; of a positional one, "FILE".
  std::string description;
  bool is_positional = false;
  bool is_required = false;
  bool is_repeatable = false;        // More than one value helps.
  std::string value;                 // What it takes: "FILE"; of a flag nothing.
  std::vector<std::string> choices;  // What a positional one may be, if that is few.
};

struct CommandInfo {
  std::string name;
  std::string summary;
  std::vector<OptionInfo> options;  // In the order of their declaration; --help too.
};

// All commands, in the order of their declaration.
std::vector<CommandInfo> definitions(const CLI::App& app);

// What is understood before any command: --help and --version.
std::vector<OptionInfo> top_options(const CLI::App& app);

// The help of a command, which there has to be, or with "" of the whole.
std::string help_text(const CLI::App& app, const std::string& command);

// The shells that there are completions for.
inline constexpr const char* kShells[] = {"bash", "zsh", "fish"};

}  // namespace waybill::cli
