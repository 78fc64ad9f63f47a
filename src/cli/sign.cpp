// waybill sign --key FILE IN: signs an envelope. Runs no Python.
// Tested by tests/cli/test_sign.py.

#include <unistd.h>

#include <cstdio>

#include "cli/command.h"
#include "waybill/signature.h"

namespace waybill::cli {
namespace {

void declare_sign(Options& options, Arguments& arguments) {
  options.add_text("FILE", arguments.file, "An envelope, or - for stdin");
  Options from = options.add_exclusive_group("key");
  from.add_text("--key FILE", arguments.key_file, "A file with the key to sign with");
  from.add_text("--key-env VARIABLE", arguments.key_variable,
                "The name of an environment variable with that key");
  options.add_text("--application TEXT", arguments.application,
                   "Text for the application field, which the signature covers");
  options.add_text(
      "-o,--out FILE", arguments.output,
      "The file to write, or - for stdout; by default stdout, unless it is a "
      "terminal");
  options.add_flag("--json", arguments.json,
                   "Write one JSON object; without --out, only for errors");
}

Exit run_sign(const Arguments& arguments) {
  if (!arguments.output && isatty(STDOUT_FILENO) != 0) {
    return report_usage_error("an envelope cannot be shown on a terminal; give --out",
                              arguments.json);
  }
  const Result<SigningKey> key =
      arguments.key_file ? SigningKey::from_file(*arguments.key_file)
                         : SigningKey::from_environment(*arguments.key_variable);
  if (!key) return report_error(key.error(), arguments.json);
  Input bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  Result<std::vector<std::uint8_t>> envelope;
  if (arguments.application) {
    const auto* text =
        reinterpret_cast<const std::uint8_t*>(arguments.application->data());
    envelope = with_application(bytes, {text, arguments.application->size()});
    if (envelope) envelope = sign(*envelope, *key);
  } else {
    envelope = sign(bytes, *key);
  }
  if (!envelope) return report_error(envelope.error(), arguments.json);
  const std::string output = arguments.output.value_or("-");
  if (!write_output(output, arguments.json, *envelope)) return Exit::kUnreadable;
  if (arguments.json && output != "-") {
    const SignatureInfo signature{key->algorithm(), key->id()};
    std::puts(success_json({{"size", envelope->size()}}, signature).c_str());
  }
  return Exit::kSuccess;
}

}  // namespace

const Command kSign = {"sign", "Sign an envelope", declare_sign, run_sign};

}  // namespace waybill::cli
