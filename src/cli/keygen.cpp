// waybill keygen --out PREFIX: makes a signing key. Runs no Python.
// Tested by tests/cli/test_sign.py.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/command.h"
#include "waybill/signature.h"

namespace waybill::cli {
namespace {

void declare_keygen(Options& options, Arguments& arguments) {
  options.add_text("--out PREFIX", arguments.output,
                   "The files to write: PREFIX.key, and PREFIX.pub for receivers",
                   Options::Need::kRequired);
  options.add_flag("--mac", arguments.mac,
                   "A key that both sides share, instead of an Ed25519 pair");
  options.add_flag("--json", arguments.json, "Write one JSON object");
}

// Writes a new file that every user may read.
Result<void> save_public(const std::string& path, const std::string& line) {
  constexpr mode_t kReadableByAll = 0644;
  const int number = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, kReadableByAll);
  std::FILE* file = number < 0 ? nullptr : fdopen(number, "wb");
  bool is_written = file != nullptr && std::fputs((line + "\n").c_str(), file) >= 0;
  if (file != nullptr) is_written = std::fclose(file) == 0 && is_written;
  if (is_written) return {};
  return tl::unexpected(Error{ErrorCode::kBadKey, 0,
                              "the key file " + path + " cannot be created: " +
                                  std::string(std::strerror(errno))});
}

// `line` is empty for a key without a public half.
std::string describe(const std::string& id, const std::string& line, bool json) {
  if (!json) return id + "\n" + line + (line.empty() ? "" : "\n");
  const std::string quoted = line.empty() ? "null" : "\"" + line + "\"";
  return "{\n  \"ok\": true,\n  \"key\": \"" + id + "\",\n  \"public\": " + quoted +
         "\n}\n";
}

Exit run_keygen(const Arguments& arguments) {
  if (arguments.output->empty()) {
    return report_usage_error("--out needs a name", arguments.json);
  }
  const std::string secret_file = *arguments.output + ".key";
  const SigningKey key = SigningKey::generate(
      arguments.mac ? SignatureAlgorithm::kMac : SignatureAlgorithm::kEd25519);
  const Result<void> saved = key.save(secret_file);
  if (!saved) return report_error(saved.error(), arguments.json);
  const std::string line = arguments.mac ? "" : *key.public_text();
  if (!arguments.mac) {
    const Result<void> published = save_public(*arguments.output + ".pub", line);
    if (!published) {
      std::remove(secret_file.c_str());  // One file is useless without the other.
      return report_error(published.error(), arguments.json);
    }
  }
  const std::string text = describe(to_string(key.id()), line, arguments.json);
  if (write_output("-", arguments.json, {text.begin(), text.end()}))
    return Exit::kSuccess;
  // A key that was not reported would only block the next attempt.
  std::remove(secret_file.c_str());
  if (!arguments.mac) std::remove((*arguments.output + ".pub").c_str());
  return Exit::kUnreadable;
}

}  // namespace

const Command kKeygen = {"keygen", "Make a key to sign envelopes with", declare_keygen,
                         run_keygen};

}  // namespace waybill::cli
