// Options of commands, in the words of CLI11.
// Tested by the tests of the commands, tests/cli/.

#include "cli/options.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <CLI/CLI.hpp>

namespace waybill::cli {
namespace {

// What options take, in help and manual; completion.cpp has a row for those names that
// shells know how to complete. Arguments that have only a place are their own name.
struct ValueRow {
  std::string_view option;
  const char* value;
};
constexpr ValueRow kValues[] = {
    {"--application", "TEXT"}, {"--depth", "N"},      {"--indent", "N"},
    {"--html", "FILE"},        {"--items", "N"},      {"--key", "FILE"},
    {"--key-env", "VARIABLE"}, {"--out", "PREFIX"},   {"-o,--out", "FILE"},
    {"--package", "NAME"},     {"--policy", "FILE"},  {"--python", "PROGRAM"},
    {"--rename", "OLD=NEW"},   {"--skip", "PATTERN"}, {"--top", "N"},
};

const char* value_of(std::string_view option) {
  for (const ValueRow& row : kValues) {
    if (row.option == option) return row.value;
  }
  return option.starts_with('-') ? "VALUE" : "";
}

template <typename Number>
bool read_number(std::string_view text, Number& into) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, into);
  return error == std::errc() && stopped == end;
}

// CLI11 itself would take 0x10, and tells all digits of the type's own bounds.
template <typename Number>
void add_number(CLI::App& app, const char* name, Number& into, Number lowest,
                Number highest, std::string description) {
  const bool is_bounded = highest != std::numeric_limits<Number>::max();
  const std::string bounds =
      std::to_string(lowest) + (is_bounded ? " to " + std::to_string(highest) : " on");
  description += "; from " + bounds + ", default " + std::to_string(into);
  const auto complaint = [=](std::string& text) -> std::string {
    Number number{};
    const bool is_fine =
        read_number(text, number) && lowest <= number && number <= highest;
    return is_fine ? "" : text + " is no number from " + bounds;
  };
  app.add_option_function<std::string>(
         name, [&into](const std::string& text) { read_number(text, into); },
         description)
      ->type_name(value_of(name))
      ->check(CLI::Validator(complaint, ""));
}

}  // namespace

void Options::flag(const char* name, bool& into, const char* description) {
  app_.add_flag(name, into, description);
}

void Options::text(const char* name, std::string& into, const char* description) {
  app_.add_option(name, into, description)->type_name(value_of(name))->required();
}

void Options::text(const char* name, std::optional<std::string>& into,
                   const char* description, Need need) {
  app_.add_option_function<std::string>(
          name, [&into](const std::string& text) { into = text; }, description)
      ->type_name(value_of(name))
      ->required(need == Need::kRequired);
}

void Options::texts(const char* name, std::vector<std::string>& into,
                    const char* description) {
  app_.add_option(name, into, description)
      ->type_name(value_of(name))
      ->allow_extra_args(false);
}

void Options::choice(const char* name, std::string& into,
                     std::span<const char* const> choices, const char* description) {
  const auto complaint = [choices, description](std::string& text) -> std::string {
    const bool is_one = std::ranges::find(choices, text) != choices.end();
    return is_one ? "" : text + " is none of " + description;
  };
  app_.add_option(name, into, description)
      ->type_name(value_of(name))
      ->required()
      ->check(CLI::Validator(complaint, ""));
}

void Options::count(const char* name, std::size_t& into, const char* description,
                    std::size_t highest) {
  add_number(app_, name, into, std::size_t{0}, highest, description);
}

void Options::number(const char* name, int& into, int lowest, int highest,
                     const char* description) {
  add_number(app_, name, into, lowest, highest, description);
}

Options Options::exactly_one_of(const char* what) {
  return Options(*app_.add_option_group(what)->require_option(1));
}

}  // namespace waybill::cli
