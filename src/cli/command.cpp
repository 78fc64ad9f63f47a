// Input, output, errors and keys, which work the same way in each command.
// Tested by tests/cli/test_inspect.py, test_usage.py, test_sign.py and test_cat.py.

#include "cli/command.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string_view>

#include "waybill/parts.h"
#include "waybill/report.h"
#include "waybill/stream_length.h"

namespace waybill::cli {
namespace {

// --- Files that change as a whole or not at all, like those of waybill.save()

using std::filesystem::path;

constexpr int kMaxLinks = 40;  // The limit of the kernel.

// Replaces a symbolic link by its target, which need not exist. False with errno set
// for a cycle of links.
bool follow_links(path& file) {
  std::error_code error;
  for (int i = 0; std::filesystem::is_symlink(file, error); ++i) {
    if (i == kMaxLinks) {
      errno = ELOOP;
      return false;
    }
    const path target = std::filesystem::read_symlink(file, error);
    if (error) {
      errno = error.value();
      return false;
    }
    file = file.parent_path() / target;
  }
  return true;
}

// The permissions of an existing file, or those that a new file would get.
mode_t permissions_of(const path& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) == 0) return status.st_mode & 0777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

bool write_all(int descriptor, const std::vector<std::uint8_t>& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t size = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (size < 0 && errno != EINTR) return false;
    if (size > 0) done += static_cast<std::size_t>(size);
  }
  return fsync(descriptor) == 0;
}

// Flushes the new name to the disk, if the system supports that.
void sync_folder(const path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return;  // The folder may be writable and not readable.
  fsync(descriptor);
  close(descriptor);
}

// Whether the name is that of a regular file, or of none yet: not that of a pipe, nor
// of an open file such as /dev/stdout.
bool is_replaceable(const std::string& file) {
  if (file.starts_with("/dev/") || file.starts_with("/proc/")) return false;
  struct stat status{};
  return stat(file.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

// Replaces the content of a file: the old content stays until all of the new is on the
// disk. Keeps permissions, and follows symbolic links. Does not keep owner and extended
// attributes; other hard links keep the old content. The folder has to be writable.
// False with errno set if it fails.
bool replace_file(const std::string& file, const std::vector<std::uint8_t>& bytes) {
  path target = file;
  if (!follow_links(target)) return false;
  const path folder = target.has_parent_path() ? target.parent_path() : ".";
  std::string name = folder / ".waybill-XXXXXX";
  // At the limit for the size of files, write() should fail and not kill the process.
  std::signal(SIGXFSZ, SIG_IGN);
  // No other user can read the file before it has the permissions of the old one.
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) return false;
  const bool is_written =
      fchmod(descriptor, permissions_of(target)) == 0 && write_all(descriptor, bytes);
  const int error = errno;
  const bool is_closed = close(descriptor) == 0;
  if (is_written && is_closed && std::rename(name.c_str(), target.c_str()) == 0) {
    sync_folder(folder);
    return true;
  }
  const int reason = is_written ? errno : error;
  unlink(name.c_str());
  errno = reason;
  return false;
}

// --- Input and output

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin && file != stdout) std::fclose(file);
  }
};

bool report_errno(const std::string& file, const char* stream, bool json) {
  const std::string reason = std::strerror(errno);
  report_unreadable((file == "-" ? stream : printable(file)) + ": " + reason, json);
  return false;
}

constexpr auto kFirstUpdate = std::chrono::seconds(1);
constexpr auto kUpdateInterval = std::chrono::milliseconds(200);

double gigabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; }

// Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
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

bool is_similar(std::string_view typed, std::string_view name) {
  constexpr std::size_t kMaxSize = 32;  // Bounds the cost; no name is as long.
  if (typed.empty() || typed.size() > kMaxSize) return false;
  return name.starts_with(typed) || edit_distance(typed, name) <= 2;
}

}  // namespace

bool read_input(const std::string& file, bool json, Input& into) {
  // A smaller file is read: that is cheap, and truncating it cannot kill this process.
  constexpr std::uintmax_t kMinMapped = 64 << 20;
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error) &&
      std::filesystem::file_size(file, error) >= kMinMapped && !error) {
    auto mapped = MappedFile::open(file);
    if (mapped) {
      into.file_ = *std::move(mapped);
      return true;
    }
  }
  const std::unique_ptr<std::FILE, CloseFile> input(
      file == "-" ? stdin : std::fopen(file.c_str(), "rb"));
  if (!input) return report_errno(file, "stdin", json);
  std::vector<std::uint8_t>& bytes = into.bytes_;
  // Stops as soon as the bytes cannot be one envelope: the input may be endless, like
  // /dev/zero.
  StreamLength stream_length;
  std::uint8_t block[1 << 16];
  while (const std::size_t size = std::fread(block, 1, sizeof block, input.get())) {
    bytes.insert(bytes.end(), block, block + size);
    const Extent extent = stream_length.measure(bytes);
    // One more byte suffices for the error about trailing bytes.
    if (extent.missing == 0 && extent.size != bytes.size()) return true;
  }
  return std::ferror(input.get()) == 0 || report_errno(file, "stdin", json);
}

bool write_output(const std::string& file, bool json,
                  const std::vector<std::uint8_t>& bytes) {
  if (file != "-" && is_replaceable(file)) {
    return replace_file(file, bytes) || report_errno(file, "stdout", json);
  }
  std::unique_ptr<std::FILE, CloseFile> output(
      file == "-" ? stdout : std::fopen(file.c_str(), "wb"));
  if (!output) return report_errno(file, "stdout", json);
  // A full disk may show only when the last bytes are flushed.
  const bool is_written =
      std::fwrite(bytes.data(), 1, bytes.size(), output.get()) == bytes.size() &&
      std::fflush(output.get()) == 0;
  // Writes no JSON once a part of the bytes has gone to stdout.
  return is_written || report_errno(file, "stdout", json && file != "-");
}

Exit report_failure(Exit exit, const char* code, const std::string& detail, bool json) {
  if (json) std::printf("%s\n", failure_json(code, detail).c_str());
  std::fprintf(stderr, "waybill: %s\n", detail.c_str());
  return exit;
}

Error add_extent_detail(Error error, BytesView bytes) {
  const Extent extent = StreamLength().measure(bytes);
  if (extent.missing != 0) {
    error.detail += "; this is the start of an envelope, which was cut off";
  } else if (extent.size == 0) {
    error.detail += "; nor is it an envelope";
  }
  return error;
}

Exit report_error(const Error& error, bool json) {
  if (json) std::printf("%s\n", error_json(error).c_str());
  std::fprintf(stderr, "waybill: %s\n", printable(to_string(error)).c_str());
  const bool is_about_keys =
      error.code == ErrorCode::kBadSignature || error.code == ErrorCode::kBadKey;
  if (is_about_keys) return Exit::kBadSignature;
  return error.code == ErrorCode::kRefused ? Exit::kRefused : Exit::kUnreadable;
}

void declare_colours(Options& options, Arguments& arguments) {
  options.add_flag("--no-colours", arguments.no_colours,
                   "No colours, even on a terminal");
}

bool wants_colours(const Arguments& arguments) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return !arguments.no_colours && isatty(STDOUT_FILENO) != 0 &&
         (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::string unknown_command_error(const std::string& name,
                                  const std::vector<std::string>& commands) {
  std::string similar;
  for (const std::string& command : commands) {
    if (is_similar(name, command)) similar += (similar.empty() ? "" : " or ") + command;
  }
  return "there is no command '" + name + "'; " +
         (similar.empty() ? "see waybill --help" : "did you mean " + similar + "?");
}

void declare_keys(Options& options, Arguments& arguments) {
  options.add_texts(
      "--key FILE", arguments.key_files,
      "A file with a public key or MAC key, one of which must have signed it");
  options.add_text("--key-env VARIABLE", arguments.key_variable,
                   "The name of an environment variable with such keys");
}

Result<KeyRing> read_keys(const Arguments& arguments) {
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
  if (keys.size() != 0) {  // Checks before anything is parsed.
    const Result<void> is_signed = keys.check(bytes);
    if (!is_signed) {
      return tl::unexpected(add_extent_detail(is_signed.error(), bytes));
    }
  }
  return open_mapped(bytes);
}

ProgressLine::ProgressLine(std::uint64_t total)
    : total_(total),
      is_wanted_(total != 0 && isatty(STDERR_FILENO) != 0),
      next_(Clock::now() + kFirstUpdate) {}

ProgressLine::~ProgressLine() {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::show(std::uint64_t done) {
  if (!is_wanted_ || Clock::now() < next_) return;
  next_ = Clock::now() + kUpdateInterval;
  is_shown_ = true;
  std::fprintf(stderr, "\r%3.0f %%  %.1f of %.1f GB",
               100.0 * static_cast<double>(done) / static_cast<double>(total_),
               gigabytes(done), gigabytes(total_));
}

}  // namespace waybill::cli
