// Options of commands, in the words of CLI11.
// Tested by the tests of the commands, tests/cli/.

#include "cli/options.h"

#include <CLI/CLI.hpp>

namespace waybill::cli {

void Options::flag(const char* name, bool& into, const char* description) {
  app_.add_flag(name, into, description);
}

void Options::text(const char* name, std::string& into, const char* description) {
  app_.add_option(name, into, description)->required();
}

void Options::text(const char* name, std::optional<std::string>& into,
                   const char* description, Need need) {
  app_.add_option_function<std::string>(
          name, [&into](const std::string& text) { into = text; }, description)
      ->required(need == Need::kRequired);
}

void Options::texts(const char* name, std::vector<std::string>& into,
                    const char* description) {
  app_.add_option(name, into, description)->allow_extra_args(false);
}

void Options::choice(const char* name, std::string& into,
                     std::span<const char* const> choices, const char* description) {
  app_.add_option(name, into, description)
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>(choices.begin(), choices.end())));
}

void Options::count(const char* name, std::size_t& into, const char* description) {
  app_.add_option(name, into, description)->check(CLI::NonNegativeNumber);
}

void Options::number(const char* name, int& into, int lowest, int highest,
                     const char* description) {
  app_.add_option(name, into, description)->check(CLI::Range(lowest, highest));
}

Options Options::exactly_one_of(const char* what) {
  return Options(*app_.add_option_group(what)->require_option(1));
}

}  // namespace waybill::cli
