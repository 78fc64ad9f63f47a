// waybill completion SHELL: a script that lets the shell complete commands and options.
// Made from the declarations of the commands, so that it is always complete.
// Tested by tests/cli/test_completion.py.

#include <cstring>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "cli/command.h"

namespace waybill::cli {
namespace {

using Commands = std::vector<CommandInfo>;

void declare_completion(Options& options, Arguments& arguments) {
  options.add_choice("SHELL", arguments.shell, kShells, "bash, zsh or fish");
  options.add_flag("--json", arguments.json, "Write one JSON object");
}

// The text in single quotes, which all three shells take literally.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Escapes text in a spec of zsh's _arguments.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::strchr("[]:\\", c) != nullptr) out += '\\';
    out += c;
  }
  return out;
}

// How each shell completes the value of an option. Values with other names have no
// completion.
struct ValueRow {
  std::string_view value;
  const char* bash;  // A compgen command, or "files": what bash does by itself.
  const char* zsh;   // An action of _arguments.
  const char* fish;  // Options of complete.
};
constexpr const char* kFishCommands = "-x -a '(__fish_complete_command)'";
constexpr ValueRow kValues[] = {
    {"FILE", "files", "_files", "-r -F"},
    {"PREFIX", "files", "_files", "-r -F"},
    {"A", "files", "_files", "-F"},
    {"B", "files", "_files", "-F"},
    {"TARGET", "files", "_files", "-F"},
    {"PROGRAM", "compgen -c", "{_command_names -e; _files}", kFishCommands},
    {"VARIABLE", "compgen -e", "_parameters -g \"*export*\"", "-x -a '(set -nx)'"},
    {"", "none", " ", "-x"},
};

const ValueRow& row_of(const OptionInfo& option) {
  const ValueRow* row = std::begin(kValues);
  while (!row->value.empty() && row->value != option.value) ++row;
  return *row;
}

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
  std::string out;
  for (const std::string& text : texts) {
    if (!out.empty()) out += between;
    out += text;
  }
  return out;
}

bool takes_value(const OptionInfo& option) {
  return !option.is_positional && !option.value.empty();
}

std::vector<std::string> names_of(const std::vector<OptionInfo>& options,
                                  bool (*is_wanted)(const OptionInfo&)) {
  std::vector<std::string> names;
  for (const OptionInfo& option : options) {
    if (!is_wanted(option)) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

bool is_option(const OptionInfo& option) { return !option.is_positional; }

// The arms of bash's `case` for one command: options by name, arguments by position.
std::string bash_arms(const CommandInfo& command) {
  std::string arms;
  int place = 0;
  for (const OptionInfo& option : command.options) {
    if (is_option(option) && !takes_value(option)) continue;
    const std::string pattern =
        option.is_positional ? std::to_string(place++) : joined(option.names, "|");
    const std::string how = option.choices.empty()
                                ? row_of(option).bash
                                : "compgen -W \"" + joined(option.choices, " ") + "\"";
    arms += fmt::format("        {}) how={} ;;\n", pattern, in_quotes(how));
  }
  return arms;
}

std::string bash_script(const std::vector<OptionInfo>& top, const Commands& commands) {
  std::string names;
  std::string cases;
  for (const CommandInfo& command : commands) {
    names += command.name + " ";
    cases += fmt::format(
        "    {})\n      words={}; valued={}\n      case \"$1\" in\n{}      esac ;;\n",
        command.name, in_quotes(joined(names_of(command.options, is_option), " ")),
        in_quotes("|" + joined(names_of(command.options, takes_value), "|") + "|"),
        bash_arms(command));
  }
  return fmt::format(
      R"(# bash completion for waybill; made by `waybill completion bash`.
# Sets words, valued and how for `$1`: an option, or the number of an argument.
_waybill_takes() {{
  words={} valued='' how={}
  [ "$COMP_CWORD" -gt 1 ] || return
  words='' how=none
  case "${{COMP_WORDS[1]}}" in
{}  esac
}}
_waybill() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words valued how option='' i place=0
  COMPREPLY=()
  _waybill_takes ''
  for (( i = 2; i < COMP_CWORD; ++i )); do
    # "=" is a word of its own here.
    if [ "${{COMP_WORDS[i]}}" = "=" ]; then
      option="${{COMP_WORDS[i-1]}}"
    elif [ -n "$option" ]; then
      option=''
    elif [[ "$valued" == *"|${{COMP_WORDS[i]}}|"* ]]; then
      option="${{COMP_WORDS[i]}}"
    elif [[ "${{COMP_WORDS[i]}}" != -?* ]]; then
      (( ++place ))
    fi
  done
  if [ "$current" = "=" ]; then
    current='' option="${{COMP_WORDS[COMP_CWORD-1]}}"
  fi
  if [ -z "$option" ] && [[ "$current" == -* ]]; then
    how='compgen -W "$words"'
  else
    _waybill_takes "${{option:-$place}}"
  fi
  [ "$how" != files ] || return
  compopt +o bashdefault +o default
  [ "$how" = none ] || mapfile -t COMPREPLY < <(eval "$how -- \"\$current\"")
}}
complete -o bashdefault -o default -F _waybill waybill
)",
      in_quotes(joined(names_of(top, is_option), " ")),
      in_quotes("compgen -W \"" + names + "\""), cases);
}

// One line of zsh's _arguments for each name of an option, or for an argument.
std::string zsh_option(const OptionInfo& option) {
  const std::string text = zsh_text(option.description);
  const std::string action = option.choices.empty()
                                 ? row_of(option).zsh
                                 : "(" + joined(option.choices, " ") + ")";
  const auto line = [](const std::string& spec) {
    return " \\\n        " + in_quotes(spec);
  };
  if (option.is_positional) {
    return line(
        fmt::format("{}:{}:{}", option.is_required ? "" : ":", option.value, action));
  }
  std::string out;
  for (const std::string& name : option.names) {
    const bool has_value = takes_value(option);
    const char* equals = has_value && name.starts_with("--") ? "=" : "";
    out +=
        line(fmt::format("{}{}{}[{}]{}", option.is_repeatable ? "*" : "", name, equals,
                         text, has_value ? ":" + option.value + ":" + action : ""));
  }
  return out;
}

std::string zsh_script(const std::vector<OptionInfo>& top, const Commands& commands) {
  std::string names;
  std::string cases;
  std::string first;
  for (const OptionInfo& option : top) first += zsh_option(option);
  for (const CommandInfo& command : commands) {
    names += "    " + in_quotes(command.name + ":" + zsh_text(command.summary)) + "\n";
    cases += fmt::format("    {}) _arguments -s", command.name);
    for (const OptionInfo& option : command.options) cases += zsh_option(option);
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef waybill
# zsh completion for waybill; made by `waybill completion zsh`.
_waybill() {{
  # "commands" would hide those of zsh from _command_names.
  local -a verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _arguments -s{} \
        ':command:{{_describe command verbs}}'
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
                     names, first, cases);
}

std::string fish_option(const std::string& when, const OptionInfo& option) {
  std::string out = "complete -c waybill -n " + in_quotes(when);
  for (const std::string& name : option.names) {
    if (option.is_positional) break;
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.choices.empty()) {
    out += " -a " + in_quotes(joined(option.choices, " "));
  } else if (!option.value.empty()) {
    out += std::string(" ") + row_of(option).fish;
  }
  return out + " -d " + in_quotes(option.description) + "\n";
}

std::string fish_script(const std::vector<OptionInfo>& top, const Commands& commands) {
  constexpr const char* kFirst = "__waybill_at ''";
  std::string out =
      R"(# fish completion for waybill; made by `waybill completion fish`.
# Whether the command is `$argv[1]` and, if `$argv[2]` is given, the argument to
# complete has that number. The rest of `$argv` are options that take a value.
function __waybill_at
  set -l typed (commandline -opc)
  test "$typed[2]" = "$argv[1]"; or return 1
  set -q argv[2]; or return 0
  set -l place 0
  set -l is_value 0
  for word in $typed[3..-1]
    if test $is_value = 1
      set is_value 0
    else if contains -- $word $argv[3..-1]
      set is_value 1
    else if not string match -q -- '-?*' $word
      set place (math $place + 1)
    end
  end
  test $place = $argv[2]
end
complete -c waybill -f
)";
  for (const OptionInfo& option : top) out += fish_option(kFirst, option);
  for (const CommandInfo& command : commands) {
    out += fmt::format("complete -c waybill -n {} -a {} -d {}\n", in_quotes(kFirst),
                       command.name, in_quotes(command.summary));
    const std::string when = "__waybill_at " + command.name;
    const std::string valued = joined(names_of(command.options, takes_value), " ");
    int place = 0;
    for (const OptionInfo& option : command.options) {
      const std::string at =
          option.is_positional ? fmt::format(" {} {}", place++, valued) : "";
      out += fish_option(when + at, option);
    }
  }
  return out;
}

struct Shell {
  const char* name;
  std::string (*script)(const std::vector<OptionInfo>& top, const Commands&);
};
constexpr Shell kScripts[] = {
    {"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

Exit run_completion(const Arguments& arguments) {
  for (const Shell& shell : kScripts) {
    if (arguments.shell != shell.name) continue;
    return print_text(
        shell.script(top_options_of(*arguments.app), commands_of(*arguments.app)),
        arguments.json);
  }
  return Exit::kUsage;
}

}  // namespace

const Command kCompletion = {"completion", "Print a completion script for a shell",
                             declare_completion, run_completion};

}  // namespace waybill::cli
