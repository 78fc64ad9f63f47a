#pragma once

// How commands declare their options, and the declared command line as data. Only
// options.cpp and main.cpp include CLI11, which takes seconds to compile.

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace waybill::cli {

// Declares the options of one command: a name ("--json", "--depth N" or "-o,--out FILE"
// with the name of the value, or "FILE" for a positional argument), the variable for
// its value, and a description. completion.cpp has a row for each name of a value that
// shells can complete. The command of CLI11 and the variables must live until the
// command line is parsed. Parsing leaves the variables of options that are not given
// unchanged.
class Options {
 public:
  enum class Need { kRequired, kOptional };

  explicit Options(CLI::App& app) : app_(app) {}

  void add_flag(const char* name, bool& into, const char* description);

  // A required text; for a file, "-" may mean stdin.
  void add_text(const char* name, std::string& into, const char* description);
  // A text. An empty one counts as given, unlike in CLI11 itself.
  void add_text(const char* name, std::optional<std::string>& into,
                const char* description, Need need = Need::kOptional);
  // An option that may be repeated, with one value each time.
  void add_texts(const char* name, std::vector<std::string>& into,
                 const char* description);
  // A required text that is one of these.
  void add_choice(const char* name, std::string& into,
                  std::span<const char* const> choices, const char* description);

  // A number from 0 to `highest`. Bounds and default become part of the description.
  void add_count(const char* name, std::size_t& into, const char* description,
                 std::size_t highest = std::numeric_limits<std::size_t>::max());
  // A number from `lowest` to `highest`, described in the same way.
  void add_number(const char* name, int& into, int lowest, int highest,
                  const char* description);

  // Options that only parsed_arguments() reads.
  void pass_flag(const char* name, const char* description);
  void pass_text(const char* name, const char* description);
  void pass_texts(const char* name, const char* description);

  // A group of options of which exactly one is required; `what` names it in errors.
  Options add_exclusive_group(const char* what);

 private:
  CLI::App& app_;
};

// --- The declared command line as data, for help, completions and the manual page

struct OptionInfo {
  std::vector<std::string> names;  // "--json", "-o"; "FILE" if positional.
  std::string description;
  bool is_positional = false;
  bool is_required = false;
  bool is_repeatable = false;
  std::string value;                 // The name of its value, "FILE"; empty for a flag.
  std::vector<std::string> choices;  // The possible values, if they are known.
};

struct CommandInfo {
  std::string name;
  std::string summary;
  std::vector<OptionInfo> options;  // In the order of declaration, with --help.
};

// All commands in the order of declaration.
std::vector<CommandInfo> commands_of(const CLI::App& app);

// The options of the program itself: --help and --version.
std::vector<OptionInfo> top_options_of(const CLI::App& app);

// The help of an existing command, or with "" that of the program.
std::string help_text(const CLI::App& app, const std::string& command);

// The parsed command and its options, except `omitted`, as arguments that argparse
// parses in the same way: each option in one argument with its value, positional
// arguments last.
std::vector<std::string> parsed_arguments(const CLI::App& app,
                                          std::string_view omitted);

// The shells that completions support.
inline constexpr const char* kShells[] = {"bash", "zsh", "fish"};

}  // namespace waybill::cli
