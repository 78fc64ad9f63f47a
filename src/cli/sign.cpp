// waybill sign --key FILE IN: signs an envelope. Runs no Python.
// Tested by tests/cli/test_sign.py.

#include "cli/command.h"
#include "waybill/signature.h"

namespace waybill::cli {
namespace {

void declare(Options& options, Arguments& arguments) {
  options.text("FILE", arguments.file, "An envelope, or - for stdin");
  Options from = options.exactly_one_of("key");
  from.text("--key", arguments.key_file, "A file with the key to sign with");
  from.text("--key-env", arguments.key_variable,
            "The name of an environment variable with that key");
  options.text("--application", arguments.application,
               "Text for the application field, which the signature covers");
  options.text("-o,--out", arguments.output, "Where to; else stdout");
  options.flag("--json", arguments.json, "Write errors as JSON too");
}

Exit run(const Arguments& arguments) {
  const Result<SigningKey> key =
      arguments.key_file ? SigningKey::from_file(*arguments.key_file)
                         : SigningKey::from_environment(*arguments.key_variable);
  if (!key) return refuse(key.error(), arguments.json);
  std::vector<std::uint8_t> bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  Result<std::vector<std::uint8_t>> envelope = std::move(bytes);
  if (arguments.application) {
    const auto* text =
        reinterpret_cast<const std::uint8_t*>(arguments.application->data());
    envelope = with_application(*envelope, {text, arguments.application->size()});
  }
  if (envelope) envelope = sign(*envelope, *key);
  if (!envelope) return refuse(envelope.error(), arguments.json);
  const bool is_written =
      write_output(arguments.output.value_or("-"), arguments.json, *envelope);
  return is_written ? Exit::kFine : Exit::kUnreadable;
}

}  // namespace

const Command kSign = {"sign", "Sign an envelope", declare, run};

}  // namespace waybill::cli
