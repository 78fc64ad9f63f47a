#pragma once

// What a command is, and what commands share. One file per command; main.cpp lists
// them.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.h"
#include "waybill/error.h"
#include "waybill/mapped_file.h"
#include "waybill/signature.h"

namespace waybill::cli {

// Exit codes; docs/cli.md lists them.
enum class Exit : std::uint8_t {
  kFine = 0,
  kUsage = 1,           // The command line was not understood.
  kUnreadable = 2,      // The input could not be read, or is no sound envelope.
  kRefused = 3,         // Sound, but a policy is against it, or no plain data.
  kBadSignature = 4,    // Not signed by a known key, or a key is none.
  kRaisedInPython = 5,  // Python failed, or could not be started.
  kDifferent = 6,       // What was compared is not equal.
};

// The values of all options of all commands; each command sets and reads its own. What
// is given as an empty text is given: a check that was asked for is never left out.
struct Arguments {
  std::string file;
  std::string other_file;
  std::optional<std::string> path;
  std::optional<std::string> call;
  std::optional<std::string> package;
  std::optional<std::string> policy_file;
  std::string shell;
  std::optional<std::string> asked_command;
  std::vector<std::string> skip;
  std::vector<std::string> renames;
  std::optional<std::string> target;
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
  bool is_static = false;
  bool imports = false;
  std::size_t depth = 12;
  std::size_t items = 40;
  std::size_t listed_depth = 2;
  std::size_t listed_items = 100;
  std::size_t top = 10;
  // The command line itself, for what describes it.
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

// The bytes of an input. Those of a large file are mapped, so that a command reads what
// it looks at, and takes no memory for the rest.
class Input {
 public:
  operator BytesView() const { return file_ ? file_->bytes() : bytes_; }  // NOLINT

 private:
  friend bool read_input(const std::string& file, bool json, Input& input);

  std::vector<std::uint8_t> bytes_;
  std::optional<MappedFile> file_;
};

// The bytes of a file, or of stdin for "-". False if they cannot be read, which is told
// as refuse() tells errors: code "unreadable", without a byte.
bool read_input(const std::string& file, bool json, Input& input);

// Writes bytes to a file, all of them or none, or to stdout for "-". False, and told,
// if that cannot be done.
bool write_output(const std::string& file, bool json,
                  const std::vector<std::uint8_t>& bytes);

// "waybill: digest_mismatch at byte 120: …" on stderr; with `json`, the error as JSON
// on stdout too. Returns what to exit with: kBadSignature, kRefused or kUnreadable.
Exit refuse(const Error& error, bool json);

// "waybill: …" on stderr; with `json`, as JSON with the code "unreadable" on stdout
// too.
Exit fail(const std::string& detail, bool json);

// An error about a signature, which also says so if the bytes are no whole envelope.
Error with_extent(Error error, BytesView bytes);

// {"ok": false, "error": {"code": "…", "detail": "…"}}, for what is no Error.
std::string failure_json(const std::string& code, const std::string& detail);

// {"ok": true, …} with these numbers, and with the signature if there is one.
std::string success_json(
    std::initializer_list<std::pair<const char*, std::size_t>> numbers,
    const std::optional<SignatureInfo>& signature);

// "waybill: …" on stderr, for a command line that was not understood; with `json`, as
// JSON with the code "usage" on stdout too.
Exit misunderstand(const std::string& detail, bool json);

// Tells which of the names come near to a word that is none of them.
std::string unknown_command(const std::string& word,
                            const std::vector<std::string>& names);

// Writes a text to stdout; with `json`, as {"ok": true, "text": "…"}.
Exit print_text(const std::string& text, bool json);

// --key and --key-env, and the keys that they name. Errors: kBadKey.
void declare_known_keys(Options& options, Arguments& arguments);
Result<KeyRing> known_keys(const Arguments& arguments);

// What open_mapped() gives, of an envelope that one of the keys has signed, if there
// are any.
Result<VerifiedEnvelope> open_signed(BytesView bytes, const KeyRing& keys);

// --python, for commands that become_python().
void declare_python(Options& options, Arguments& arguments);
// Becomes `python3 -m waybill` with these words, which is what runs on; returns where
// that cannot be started. The interpreter is --python, $WAYBILL_PYTHON, the python3 in
// this program's folder or that of PATH.
// With `input`, that is what Python reads from stdin.
Exit become_python(const Arguments& arguments, std::vector<std::string> words,
                   std::optional<BytesView> input = std::nullopt);

// Whether stdout is a terminal that wants colours (NO_COLOR, see no-color.org).
bool wants_colours();

}  // namespace waybill::cli
