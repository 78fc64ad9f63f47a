// waybill man: the manual page docs/waybill.1, made from the declarations of the
// commands. A test compares the two.
// Tested by tests/cli/test_man.py.

#include <fmt/format.h>

#include "cli/command.h"

namespace waybill::cli {
namespace {

struct ExitRow {
  int code;
  const char* meaning;
};
// The table of docs/cli.md, in short; a test compares the numbers.
constexpr ExitRow kExits[] = {
    {0, "All went well."},
    {1, "The command line is invalid."},
    {2, "The input cannot be read, or is not a sound envelope."},
    {3, "A policy refuses the input, or it is not plain data (cat)."},
    {4, "No given key signed the input, or a key is invalid."},
    {5, "Python raised, or could not be started."},
    {6, "The compared envelopes differ."},
};

void declare_man(Options& options, Arguments& arguments) {
  options.add_flag("--json", arguments.json, "Write one JSON object");
}

// Escapes text for roff: no control lines, and dashes that can be copied.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string names_of(const OptionInfo& option) {
  std::string names;
  for (const std::string& name : option.names) {
    if (!names.empty()) names += ", ";
    names += roff(name);
  }
  const bool has_value = !option.value.empty() && !option.is_positional;
  return names + (has_value ? " " + option.value : "");
}

std::string list_of(const std::vector<OptionInfo>& options) {
  std::string out;
  for (const OptionInfo& option : options) {
    out += ".TP\n.B " + names_of(option) + "\n" + roff(option.description) + "\n";
  }
  return out;
}

constexpr const char* kDescription =
    ".SH DESCRIPTION\n"
    "Says what an envelope is and what it needs: the bytes that waybill.dumps gives.\n"
    "Only discover, run, verify with \\-\\-source, and explain of an object run "
    "Python.\n";

constexpr const char* kEnd =
    ".SH EXAMPLES\n"
    ".nf\n"
    "waybill inspect task.waybill\n"
    "waybill verify \\-\\-key sender.pub task.waybill\n"
    "waybill run task.waybill \\(aq[1, 2]\\(aq\n"
    ".fi\n"
    ".SH SEE ALSO\n"
    ".BR python3 (1)\n";

std::string page(const std::vector<OptionInfo>& top,
                 const std::vector<CommandInfo>& commands) {
  std::string out =
      ".TH WAYBILL 1 \"\" \"waybill " WAYBILL_VERSION
      "\"\n"
      ".SH NAME\nwaybill \\- says what serialized Python callables are and what they "
      "need\n"
      ".SH SYNOPSIS\n.B waybill\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n" +
      std::string(kDescription) + ".SH OPTIONS\n" + list_of(top) + ".SH COMMANDS\n";
  for (const CommandInfo& command : commands) {
    std::string line = "\\fBwaybill " + command.name + "\\fR";
    for (const OptionInfo& option : command.options) {
      if (!option.is_positional) continue;
      line += option.is_required ? " \\fI" + option.names[0] + "\\fR"
                                 : " [\\fI" + option.names[0] + "\\fR]";
    }
    out += ".SS " + line + "\n" + roff(command.summary) + ".\n";
    out += list_of(command.options);
  }
  out += ".SH EXIT STATUS\n";
  for (const ExitRow& row : kExits) {
    out += fmt::format(".TP\n.B {}\n{}\n", row.code, row.meaning);
  }
  return out +
         ".SH ENVIRONMENT\n"
         ".TP\n.B WAYBILL_PYTHON\nThe interpreter for commands that run Python.\n"
         ".TP\n.B NO_COLOR\nNo colours on terminals.\n" +
         kEnd;
}

Exit run_man(const Arguments& arguments) {
  return print_text(page(top_options_of(*arguments.app), commands_of(*arguments.app)),
                    arguments.json);
}

}  // namespace

const Command kMan = {"man", "Print the manual page", declare_man, run_man};

}  // namespace waybill::cli
