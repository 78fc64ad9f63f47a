// The keys by which a command accepts envelopes.
// Tested by tests/cli/test_sign.py and test_cat.py.

#include "cli/command.h"

namespace waybill::cli {

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

}  // namespace waybill::cli
