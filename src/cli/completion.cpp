// waybill completion SHELL: a script that lets the shell complete commands and options.
// Made from the declarations of the commands, so that it cannot be behind them.
// Tested by tests/cli/test_completion.py.

#include <cstring>

#include <fmt/format.h>

#include "cli/definitions.h"

namespace waybill::cli {
namespace {

using Commands = std::vector<CommandInfo>;

void declare(Options& options, Arguments& arguments) {
  options.choice("SHELL", arguments.shell, kShells, "bash, zsh or fish");
  options.flag("--json", arguments.json, "Write one JSON object");
}

// 'text', for all three shells: what is in the quotes means itself.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Within brackets of zsh's _arguments.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::strchr("[]:\\", c) != nullptr) out += '\\';
    out += c;
  }
  return out;
}

std::string words_of(const CommandInfo& command) {
  std::string words;
  for (const OptionInfo& option : command.options) {
    const auto& list = option.is_positional ? option.choices : option.names;
    for (const std::string& word : list) words += (words.empty() ? "" : " ") + word;
  }
  return words;
}

// What takes a value, as a pattern: --key|--key-env.
std::string valued_of(const CommandInfo& command) {
  std::string pattern;
  for (const OptionInfo& option : command.options) {
    if (option.is_positional || !option.takes_value) continue;
    for (const std::string& name : option.names) {
      pattern += (pattern.empty() ? "" : "|") + name;
    }
  }
  return pattern;
}

std::string bash(const Commands& commands) {
  std::string names;
  std::string cases;
  for (const CommandInfo& command : commands) {
    names += command.name + " ";
    cases += fmt::format("    {}) words={}; valued={} ;;\n", command.name,
                         in_quotes(words_of(command)),
                         in_quotes("|" + valued_of(command) + "|"));
  }
  return fmt::format(
      R"(# bash completion for waybill; made by `waybill completion bash`.
_waybill() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local words valued='||'
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {} -- "$current"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}    *) return ;;
  esac
  if [[ "$valued" == *"|$before|"* || "$current" != -* ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
    [ "${{COMP_WORDS[1]}}" != completion ] || COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -o filenames -F _waybill waybill
)",
      in_quotes(names + "--help --version"), cases);
}

std::string zsh_option(const OptionInfo& option) {
  const std::string text = zsh_text(option.description);
  if (option.is_positional) {
    std::string choices;
    for (const std::string& choice : option.choices) choices += choice + " ";
    const std::string action =
        option.choices.empty() ? "_files" : fmt::format("({})", choices);
    return " \\\n        " +
           in_quotes(fmt::format("{}:{}:{}", option.is_required ? "" : ":",
                                 option.names[0], action));
  }
  std::string out;
  for (const std::string& name : option.names) {
    const std::string value = option.takes_value ? ":value:_files" : "";
    out += " \\\n        " + in_quotes(fmt::format("*{}[{}]{}", name, text, value));
  }
  return out;
}

std::string zsh(const Commands& commands) {
  std::string names;
  std::string cases;
  for (const CommandInfo& command : commands) {
    names += "    " + in_quotes(command.name + ":" + zsh_text(command.summary)) + "\n";
    cases += fmt::format("    {}) _arguments -s", command.name);
    for (const OptionInfo& option : command.options) cases += zsh_option(option);
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef waybill
# zsh completion for waybill; made by `waybill completion zsh`.
_waybill() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
{}  esac
}}
if [ "$funcstack[1]" = _waybill ]; then
  _waybill "$@"
else
  compdef _waybill waybill
fi
)",
                     names, cases);
}

std::string fish(const Commands& commands) {
  std::string out =
      "# fish completion for waybill; made by `waybill completion fish`.\n"
      "complete -c waybill -n __fish_use_subcommand -f\n"
      "complete -c waybill -n __fish_use_subcommand -l help -d 'Print help'\n"
      "complete -c waybill -n __fish_use_subcommand -l version -d 'Print the "
      "version'\n";
  for (const CommandInfo& command : commands) {
    out += fmt::format("complete -c waybill -n __fish_use_subcommand -a {} -d {}\n",
                       command.name, in_quotes(command.summary));
    const std::string when = in_quotes("__fish_seen_subcommand_from " + command.name);
    for (const OptionInfo& option : command.options) {
      if (option.is_positional && option.choices.empty()) continue;
      out += "complete -c waybill -n " + when;
      if (option.is_positional) out += " -f -a " + in_quotes(words_of(command));
      for (const std::string& name : option.names) {
        if (option.is_positional) break;
        out +=
            name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (option.takes_value && !option.is_positional) out += " -r";
      out += " -d " + in_quotes(option.description) + "\n";
    }
  }
  return out;
}

struct Shell {
  const char* name;
  std::string (*script)(const Commands&);
};
constexpr Shell kScripts[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

Exit run(const Arguments& arguments) {
  for (const Shell& shell : kScripts) {
    if (arguments.shell != shell.name) continue;
    return print_text(shell.script(definitions(*arguments.app)), arguments.json);
  }
  return Exit::kUsage;
}

}  // namespace

const Command kCompletion = {"completion", "Print a completion script for a shell",
                             declare, run};

}  // namespace waybill::cli
