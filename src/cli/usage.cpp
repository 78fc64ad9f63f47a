// What is said of a command line that was not understood.
// Tested by tests/cli/test_usage.py.

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <utility>

#include "cli/command.h"
#include "waybill/report.h"

namespace waybill::cli {
namespace {

// Letters to put in, to take away or to change until both are the same (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

bool is_near(std::string_view word, std::string_view name) {
  constexpr std::size_t kLongest = 32;  // What is longer is no word that was mistyped.
  if (word.empty() || word.size() > kLongest) return false;
  return name.starts_with(word) || distance(word, name) <= 2;
}

}  // namespace

Exit misunderstand(const std::string& detail, bool json) {
  const std::string line = printable(detail);
  if (json) std::printf("%s\n", failure_json("usage", line).c_str());
  std::fprintf(stderr, "waybill: %s\n", line.c_str());
  return Exit::kUsage;
}

std::string unknown_command(const std::string& word,
                            const std::vector<std::string>& names) {
  std::string near;
  for (const std::string& name : names) {
    if (is_near(word, name)) near += (near.empty() ? "" : " or ") + name;
  }
  return "there is no command '" + word + "'; " +
         (near.empty() ? "see waybill --help" : near + " may be meant");
}

}  // namespace waybill::cli
