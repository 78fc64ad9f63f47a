// Reading, writing, keys and telling errors, the same way in each command.
// Tested by tests/cli/test_inspect.py, test_usage.py, test_sign.py and test_cat.py.

#include "cli/command.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string_view>

#include "cli/replace_file.h"
#include "waybill/parts.h"
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

void declare_known_keys(Options& options, Arguments& arguments) {
  options.texts(
      "--key", arguments.key_files,
      "A file with a public key or MAC key, one of which must have signed it");
  options.text("--key-env", arguments.key_variable,
               "The name of an environment variable with such keys");
}

Result<KeyRing> known_keys(const Arguments& arguments) {
  KeyRing keys;
  Result<void> added;
  for (const std::string& file : arguments.key_files) {
    if (added) added = keys.add_file(file);
  }
  if (added && arguments.key_variable) {
    added = keys.add_environment(*arguments.key_variable);
  }
  return added.map([&] { return std::move(keys); });
}

Result<VerifiedEnvelope> open_signed(BytesView bytes, const KeyRing& keys) {
  if (keys.size() != 0) {  // Before anything is parsed.
    const Result<void> signed_by_one = keys.check(bytes);
    if (!signed_by_one) {
      return tl::unexpected(with_extent(signed_by_one.error(), bytes));
    }
  }
  return open_mapped(bytes);
}

}  // namespace waybill::cli
