// waybill verify FILE: whether an envelope is sound, and signed by a given key. Runs
// Python only with --source, which compiles the source to compare it with the bytecode.
// Tested by tests/cli/test_inspect.py, test_sign.py and test_verify_source.py.

#include <algorithm>
#include <cstdio>

#include "cli/command.h"
#include "waybill/signature.h"

namespace waybill::cli {
namespace {

void declare_verify(Options& options, Arguments& arguments) {
  options.add_text("FILE", arguments.file, "An envelope, or - for stdin");
  options.add_flag("--json", arguments.json, "Write one JSON object");
  declare_keys(options, arguments);
  options.add_flag("--source", arguments.source,
                   "Compile the source and compare it with the bytecode (runs Python)");
  options.add_text(
      "--python PROGRAM", arguments.python,
      "With --source, the interpreter, of the version that made the envelope; "
      "by default $WAYBILL_PYTHON, else python3 beside the command, else that "
      "of PATH");
}

Result<void> check_with_progress(const Envelope& envelope) {
  ProgressLine line(envelope.size);
  return check_buffers(envelope, [&](std::uint64_t done) { line.show(done); });
}

// The report on a sound envelope.
std::string describe_sound(const Envelope& envelope,
                           const std::optional<SignatureInfo>& signature, bool json) {
  const auto imports = static_cast<std::size_t>(std::ranges::count_if(
      envelope.manifest.imports,
      [](const ImportRecord& record) { return !record.is_own(); }));
  const std::size_t bodies = envelope.code.size();
  if (json) {
    return success_json(
        {{"size", envelope.size}, {"imports", imports}, {"code", bodies}}, signature);
  }
  std::string text = "sound: " + std::to_string(envelope.size) + " bytes, " +
                     std::to_string(imports) +
                     (imports == 1 ? " import, " : " imports, ") +
                     std::to_string(bodies) + " code bod" + (bodies == 1 ? "y" : "ies");
  if (signature) {
    text += ", signed by the " + std::string(name_of(signature->algorithm)) + " key " +
            to_string(signature->key);
  }
  return text;
}

// Passes the checked bytes to Python, not the name of a file that may have changed.
Exit compare_source(const Envelope& envelope, const std::string& report,
                    const Arguments& arguments) {
  std::vector<std::string> argv = {"verify", "--sound=" + report};
  if (arguments.json) argv.push_back("--json");
  return exec_python(arguments, std::move(argv), envelope.bytes);
}

Exit run_verify(const Arguments& arguments) {
  if (arguments.python && !arguments.source) {
    return report_usage_error("--python needs --source", arguments.json);
  }
  const Result<KeyRing> keys = read_keys(arguments);
  if (!keys) return report_error(keys.error(), arguments.json);
  Input bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  const Result<VerifiedEnvelope> verified = open_signed(bytes, *keys);
  if (!verified) return report_error(verified.error(), arguments.json);
  const Envelope* const envelope = &**verified;
  const Result<void> checked = check_with_progress(*envelope);
  if (!checked) return report_error(checked.error(), arguments.json);

  const auto signature = keys->size() != 0 ? signature_info(*envelope) : std::nullopt;
  const std::string report = describe_sound(*envelope, signature, arguments.json);
  if (arguments.source) return compare_source(*envelope, report, arguments);
  std::puts(report.c_str());
  return Exit::kSuccess;
}

}  // namespace

const Command kVerify = {"verify", "Check every byte of an envelope", declare_verify,
                         run_verify};

}  // namespace waybill::cli
