#pragma once

// How a command says what it takes. Only three files include CLI11, since each that
// does takes seconds to compile.

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace waybill::cli {

// Where the options of one command are declared: a name ("--json", "-o,--out", or
// "FILE" for an argument that has only a place), where its value goes, and a
// description. Refers to the command of CLI11 and to the values, all of which have to
// be there when the command line is read. Values that are not given are left as they
// are.
class Options {
 public:
  enum class Need { kRequired, kOptional };

  explicit Options(CLI::App& app) : app_(app) {}

  void flag(const char* name, bool& into, const char* description);

  // A text that has to be given; for a file, "-" may stand for stdin.
  void text(const char* name, std::string& into, const char* description);
  // A text. One that is empty is given too. (CLI11 itself takes an empty text for an
  // optional as nothing.)
  void text(const char* name, std::optional<std::string>& into, const char* description,
            Need need = Need::kOptional);
  // An option that may be given several times, with one value each time.
  void texts(const char* name, std::vector<std::string>& into, const char* description);
  // A text that has to be given, and be one of these.
  void choice(const char* name, std::string& into, std::span<const char* const> choices,
              const char* description);

  // A number from 0 to `highest`. Bounds and default become part of the description.
  void count(const char* name, std::size_t& into, const char* description,
             std::size_t highest = std::numeric_limits<std::size_t>::max());
  // A number from `lowest` to `highest`, likewise.
  void number(const char* name, int& into, int lowest, int highest,
              const char* description);

  // Options of which exactly one has to be given; `what` they say names them in errors.
  Options exactly_one_of(const char* what);

 private:
  CLI::App& app_;
};

}  // namespace waybill::cli
