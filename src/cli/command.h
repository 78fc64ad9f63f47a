#pragma once

// Commands, and what they share: input, output, errors and keys. One file per command;
// main.cpp lists them.

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.h"
#include "waybill/error.h"
#include "waybill/mapped_file.h"
#include "waybill/report.h"
#include "waybill/signature.h"

namespace waybill::cli {

// Exit codes; docs/cli.md lists them.
enum class Exit : std::uint8_t {
  kSuccess = 0,
  kUsage = 1,           // The command line is invalid.
  kUnreadable = 2,      // The input cannot be read, or is not a sound envelope.
  kRefused = 3,         // A policy refuses the input, or it is not plain data.
  kBadSignature = 4,    // No given key signed the input, or a key is invalid.
  kRaisedInPython = 5,  // Python raised, or could not be started.
  kDifferent = 6,       // The compared envelopes differ.
};

// The values of all options of all commands; each command sets and reads its own. An
// empty value counts as given, so that no requested check is skipped.
struct Arguments {
  std::string file;
  std::string other_file;
  std::optional<std::string> path;
  std::string shell;
  std::optional<std::string> asked_command;
  std::optional<std::string> python;
  std::optional<std::string> output;
  std::optional<std::string> html;
  std::optional<std::string> key_file;
  std::vector<std::string> key_files;
  std::optional<std::string> key_variable;
  std::optional<std::string> application;
  bool mac = false;
  bool json = false;
  bool no_colours = false;
  bool is_loose = false;
  bool is_standard = false;
  int indent = 2;
  bool code = false;
  bool source = false;
  std::size_t depth = 12;
  std::size_t items = 40;
  std::size_t listed_depth = 2;
  std::size_t listed_items = 100;
  std::size_t top = 10;
  // The whole command line, for the commands that describe it.
  const CLI::App* app = nullptr;
};

struct Command {
  const char* name;
  const char* summary;
  void (*declare)(Options& options, Arguments& arguments);
  Exit (*run)(const Arguments& arguments);
};

extern const Command kInspect;
extern const Command kVerify;
extern const Command kDiscover;
extern const Command kExplain;
extern const Command kKeygen;
extern const Command kSign;
extern const Command kList;
extern const Command kCat;
extern const Command kSalvage;
extern const Command kRun;
extern const Command kDiff;
extern const Command kCompletion;
extern const Command kHelp;
extern const Command kMan;

// The bytes of an input. A large file is mapped, so that a command reads only the bytes
// it uses, and takes no memory for the rest.
class Input {
 public:
  operator BytesView() const { return file_ ? file_->bytes() : bytes_; }  // NOLINT

 private:
  friend bool read_input(const std::string& file, bool json, Input& input);

  std::vector<std::uint8_t> bytes_;
  std::optional<MappedFile> file_;
};

// Reads a file, or stdin for "-". Returns false after report_unreadable().
bool read_input(const std::string& file, bool json, Input& input);

// Writes all bytes or none to a file, or writes them to stdout for "-". Returns false
// after report_unreadable().
bool write_output(const std::string& file, bool json,
                  const std::vector<std::uint8_t>& bytes);

// Writes "waybill: digest_mismatch at byte 120: …" to stderr; with `json`, also the
// error as JSON to stdout. Returns the exit code: kBadSignature, kRefused or
// kUnreadable.
Exit report_error(const Error& error, bool json);

// Writes "waybill: …" to stderr; with `json`, also JSON with this code to stdout.
// Returns `exit`.
Exit report_failure(Exit exit, const char* code, const std::string& detail, bool json);
inline Exit report_unreadable(const std::string& detail, bool json) {
  return report_failure(Exit::kUnreadable, "unreadable", detail, json);
}
inline Exit report_usage_error(const std::string& detail, bool json) {
  return report_failure(Exit::kUsage, "usage", printable(detail), json);
}

// Appends to an error about a signature that the bytes are the incomplete start of an
// envelope, or not an envelope; nothing if they are a whole one.
Error add_extent_detail(Error error, BytesView bytes);

// {"ok": false, "error": {"code": "…", "detail": "…"}}, for failures without an Error.
std::string failure_json(const std::string& code, const std::string& detail);

// {"ok": true, …} with these numbers, and with the signature if there is one.
std::string success_json(
    std::initializer_list<std::pair<const char*, std::size_t>> numbers,
    const std::optional<SignatureInfo>& signature);

// The error for a name that is not one of the commands: suggests similar ones.
std::string unknown_command_error(const std::string& name,
                                  const std::vector<std::string>& commands);

// Writes a text to stdout; with `json`, as {"ok": true, "text": "…"}.
Exit print_text(const std::string& text, bool json);

// --key and --key-env, and the keys in these files and variables. Errors: kBadKey.
void declare_keys(Options& options, Arguments& arguments);
Result<KeyRing> read_keys(const Arguments& arguments);

// Opens an envelope with open_mapped(), after checking that one of the keys has signed
// it, if there are any.
Result<VerifiedEnvelope> open_signed(BytesView bytes, const KeyRing& keys);

// --python, for commands that call exec_python().
void declare_python(Options& options, Arguments& arguments);
// Replaces this process by `python3 -m waybill` with these arguments; returns only if
// Python cannot be started. The interpreter is --python, $WAYBILL_PYTHON, the python3
// in this program's folder, or that of PATH. `input`, if given, becomes stdin.
Exit exec_python(const Arguments& arguments, std::vector<std::string> argv,
                 std::optional<BytesView> input = std::nullopt);
// exec_python() with the parsed command line.
Exit exec_python(const Arguments& arguments);

// --no-colours, and whether colours are wanted: stdout is a terminal, and neither the
// option nor NO_COLOR (no-color.org) forbids them.
void declare_colours(Options& options, Arguments& arguments);
bool wants_colours(const Arguments& arguments);

// Shows progress, "42 %  4.2 of 10.0 GB", in place on stderr: only on a terminal, and
// after the first second. Erases the line at the end.
class ProgressLine {
 public:
  // `total` is in bytes.
  explicit ProgressLine(std::uint64_t total);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t total_;
  bool is_wanted_;
  bool is_shown_ = false;
  Clock::time_point next_;  // The time of the next update.
};

}  // namespace waybill::cli
