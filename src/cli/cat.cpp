// waybill cat FILE: the plain data in an envelope, as JSON. Runs no Python.
// Tested by tests/cli/test_cat.py.

#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "waybill/value_json.h"

namespace waybill::cli {
namespace {

void declare(Options& options, Arguments& arguments) {
  options.text("FILE", arguments.file, "An envelope, or - for stdin");
  options.flag("--json", arguments.json, "No colours, and errors as JSON too");
  options.flag("--no-colours", arguments.no_colours, "No colours, on terminals too");
  options.number("--indent", arguments.indent, -1, 16,
                 "Spaces for each level, or -1 for all in one line");
  options.flag("--loose", arguments.is_loose,
               "Write what JSON has no word for as what is nearest");
  options.flag("--standard", arguments.is_standard,
               "Write dates, times, decimals and paths too");
  declare_known_keys(options, arguments);
}

// Whether all was written; a disk may be full, a reader gone.
bool print(const std::string& text) {
  std::puts(text.c_str());
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

Exit run(const Arguments& arguments) {
  Result<KeyRing> keys = known_keys(arguments);
  if (!keys) return refuse(keys.error(), arguments.json);
  std::vector<std::uint8_t> bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  LoadOptions load_options;
  load_options.limits = kStrictLimits;
  if (keys->size() != 0) {
    load_options.keys = std::make_shared<const KeyRing>(std::move(*keys));
  }
  const Objects objects =
      arguments.is_standard ? Objects::kStandard : Objects::kRefused;
  const Result<data::Value> value = read_value(bytes, Gate(load_options), objects);
  if (!value) {
    const bool is_unsigned = value.error().code == ErrorCode::kBadSignature;
    return refuse(is_unsigned ? with_extent(value.error(), bytes) : value.error(),
                  arguments.json);
  }

  JsonOptions options;
  options.indent = arguments.indent;
  options.is_loose = arguments.is_loose;
  options.colours = !arguments.json && !arguments.no_colours && wants_colours();
  const Result<std::string> json = value_json(*value, options);
  if (!json) return refuse(json.error(), arguments.json);
  if (print(*json)) return Exit::kFine;
  std::perror("waybill: stdout");
  return Exit::kUnreadable;
}

}  // namespace

const Command kCat = {"cat", "Write the plain data in an envelope as JSON", declare,
                      run};

}  // namespace waybill::cli
