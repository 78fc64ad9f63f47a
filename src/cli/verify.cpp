// waybill verify FILE: whether an envelope is sound. Runs no Python.
// Tested by tests/cli/test_inspect.py.

#include <cstdio>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "waybill/envelope.h"

namespace waybill::cli {
namespace {

void declare(CLI::App& app, Arguments& arguments) {
  app.add_option("FILE", arguments.file, "An envelope, or - for stdin")->required();
  app.add_flag("--json", arguments.json, "Write one JSON object");
}

Exit run(const Arguments& arguments) {
  std::vector<std::uint8_t> bytes;
  if (!read_input(arguments.file, bytes)) return Exit::kUnreadable;
  const Result<Envelope> envelope = open_whole(bytes);
  if (!envelope) return refuse(envelope.error(), arguments.json);
  const Result<void> verdict = verify(*envelope);
  if (!verdict) return refuse(verdict.error(), arguments.json);

  if (arguments.json) {
    std::printf("{\n  \"ok\": true,\n  \"size\": %zu\n}\n", envelope->size);
  } else {
    std::printf("sound: %zu bytes, %zu imports, %zu code bodies\n", envelope->size,
                envelope->manifest.imports.size(), envelope->code.size());
  }
  return Exit::kFine;
}

}  // namespace

const Command kVerify = {"verify", "Check every byte of an envelope", declare, run};

}  // namespace waybill::cli
