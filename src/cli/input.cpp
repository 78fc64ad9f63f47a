// Reading input and telling errors, the same way in each command.
// Tested by tests/cli/test_inspect.py.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "cli/command.h"
#include "waybill/report.h"

namespace waybill::cli {
namespace {

struct Close {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

bool complain(const std::string& file) {
  std::fprintf(stderr, "waybill: %s: %s\n", printable(file).c_str(),
               std::strerror(errno));
  return false;
}

}  // namespace

bool read_input(const std::string& file, std::vector<std::uint8_t>& bytes) {
  const std::unique_ptr<std::FILE, Close> input(
      file == "-" ? stdin : std::fopen(file.c_str(), "rb"));
  if (!input) return complain(file);
  std::uint8_t block[1 << 16];
  while (const std::size_t size = std::fread(block, 1, sizeof block, input.get())) {
    bytes.insert(bytes.end(), block, block + size);
  }
  return std::ferror(input.get()) == 0 || complain(file);
}

Exit refuse(const Error& error, bool json) {
  if (json) std::printf("%s\n", error_json(error).c_str());
  std::fprintf(stderr, "waybill: %s\n", printable(to_string(error)).c_str());
  return Exit::kUnreadable;
}

bool wants_colours() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
}

}  // namespace waybill::cli
