// Reading, writing and telling errors, the same way in each command.
// Tested by tests/cli/test_inspect.py.

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include "cli/command.h"
#include "cli/replace_file.h"
#include "waybill/report.h"
#include "waybill/stream_length.h"

namespace waybill::cli {
namespace {

struct Close {
  void operator()(std::FILE* file) const {
    if (file != stdin && file != stdout) std::fclose(file);
  }
};

bool complain(const std::string& file, const char* stream, bool json) {
  const std::string reason = std::strerror(errno);
  fail((file == "-" ? stream : printable(file)) + ": " + reason, json);
  return false;
}

}  // namespace

bool read_input(const std::string& file, bool json, Input& into) {
  // Below it, reading costs nothing, and a file that is cut meanwhile ends no process.
  constexpr std::uintmax_t kLarge = 64 << 20;
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error) &&
      std::filesystem::file_size(file, error) >= kLarge && !error) {
    auto mapped = MappedFile::open(file);
    if (mapped) {
      into.file_ = *std::move(mapped);
      return true;
    }
  }
  const std::unique_ptr<std::FILE, Close> input(
      file == "-" ? stdin : std::fopen(file.c_str(), "rb"));
  if (!input) return complain(file, "stdin", json);
  std::vector<std::uint8_t>& bytes = into.bytes_;
  // What cannot be an envelope may have no end: /dev/zero.
  StreamLength stream_length;
  std::uint8_t block[1 << 16];
  while (const std::size_t size = std::fread(block, 1, sizeof block, input.get())) {
    bytes.insert(bytes.end(), block, block + size);
    const Extent extent = stream_length.measure(bytes);
    // A byte beyond the end says that there is more than an envelope.
    if (extent.missing == 0 && extent.size != bytes.size()) return true;
  }
  return std::ferror(input.get()) == 0 || complain(file, "stdin", json);
}

bool write_output(const std::string& file, bool json,
                  const std::vector<std::uint8_t>& bytes) {
  if (file != "-" && is_replaceable(file)) {
    return replace_file(file, bytes) || complain(file, "stdout", json);
  }
  std::unique_ptr<std::FILE, Close> output(
      file == "-" ? stdout : std::fopen(file.c_str(), "wb"));
  if (!output) return complain(file, "stdout", json);
  // What does not fit on the disk may show only when the last bytes are written.
  const bool is_written =
      std::fwrite(bytes.data(), 1, bytes.size(), output.get()) == bytes.size() &&
      std::fflush(output.get()) == 0;
  // Not after a part of the bytes: then stdout is no JSON any more.
  return is_written || complain(file, "stdout", json && file != "-");
}

Exit fail(const std::string& detail, bool json) {
  if (json) std::printf("%s\n", failure_json("unreadable", detail).c_str());
  std::fprintf(stderr, "waybill: %s\n", detail.c_str());
  return Exit::kUnreadable;
}

Error with_extent(Error error, BytesView bytes) {
  const Extent extent = StreamLength().measure(bytes);
  if (extent.missing != 0) {
    error.detail += "; or it was: this is the start of an envelope, which was cut off";
  } else if (extent.size == 0) {
    error.detail += "; nor is it an envelope";
  }
  return error;
}

Exit refuse(const Error& error, bool json) {
  if (json) std::printf("%s\n", error_json(error).c_str());
  std::fprintf(stderr, "waybill: %s\n", printable(to_string(error)).c_str());
  const bool is_about_keys =
      error.code == ErrorCode::kBadSignature || error.code == ErrorCode::kBadKey;
  if (is_about_keys) return Exit::kBadSignature;
  return error.code == ErrorCode::kRefused ? Exit::kRefused : Exit::kUnreadable;
}

bool wants_colours() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace waybill::cli
