#pragma once

// The command line as data, for what describes it: completions and the manual page.

#include <string>
#include <vector>

#include "cli/command.h"

namespace waybill::cli {

struct OptionInfo {
  std::vector<std::string> names;  // "--json", "-o"; of a positional one, "FILE".
  std::string description;
  bool is_positional = false;
  bool is_required = false;
  bool takes_value = false;
  std::vector<std::string> choices;  // What a positional one may be, if that is few.
};

struct CommandInfo {
  std::string name;
  std::string summary;
  std::vector<OptionInfo> options;  // In the order of their declaration; --help too.
};

// All commands, in the order of their declaration.
std::vector<CommandInfo> definitions(const CLI::App& app);

// The shells that there are completions for.
inline constexpr const char* kShells[] = {"bash", "zsh", "fish"};

}  // namespace waybill::cli
