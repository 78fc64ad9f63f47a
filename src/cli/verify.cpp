// waybill verify FILE: whether an envelope is sound, and signed by a known key. Runs no
// Python but with --source, which has a compiler compare source and bytecode.
// Tested by tests/cli/test_inspect.py, test_sign.py and test_verify_source.py.

#include <algorithm>
#include <cstdio>

#include "cli/command.h"
#include "cli/progress.h"
#include "waybill/parts.h"
#include "waybill/signature.h"

namespace waybill::cli {
namespace {

void declare_verify(Options& options, Arguments& arguments) {
  options.text("FILE", arguments.file, "An envelope, or - for stdin");
  options.flag("--json", arguments.json, "Write one JSON object");
  declare_known_keys(options, arguments);
  options.flag("--source", arguments.source,
               "Compile the source and compare it with the bytecode (runs Python)");
  options.text("--python", arguments.python,
               "With --source, the interpreter, of the version that made the envelope; "
               "else $WAYBILL_PYTHON, else python3 beside the command, else that of "
               "PATH");
}

Result<void> check_with_progress(const Envelope& envelope) {
  ProgressLine line(envelope.size);
  return check_buffers(envelope, [&](std::uint64_t done) { line.show(done); });
}

// What is told of a sound envelope.
std::string verdict_of(const Envelope& envelope,
                       const std::optional<SignatureInfo>& signature, bool json) {
  const auto imports = static_cast<std::size_t>(std::ranges::count_if(
      envelope.manifest.imports,
      [](const ImportRecord& record) { return !record.is_own(); }));
  const std::size_t bodies = envelope.code.size();
  if (json) {
    return success_json(
        {{"size", envelope.size}, {"imports", imports}, {"code", bodies}}, signature);
  }
  std::string told = "sound: " + std::to_string(envelope.size) + " bytes, " +
                     std::to_string(imports) +
                     (imports == 1 ? " import, " : " imports, ") +
                     std::to_string(bodies) + " code bod" + (bodies == 1 ? "y" : "ies");
  if (signature) {
    told += ", signed by the " + std::string(name_of(signature->algorithm)) + " key " +
            to_string(signature->key);
  }
  return told;
}

// Python gets the bytes that were checked, and no name of a file that may be another
// one by now.
Exit compare_source(const Envelope& envelope, const std::string& told,
                    const Arguments& arguments) {
  std::vector<std::string> words = {"verify"};
  if (arguments.json) words.push_back("--json");
  words.push_back("--sound=" + told);
  return become_python(arguments, std::move(words), envelope.bytes);
}

Exit run_verify(const Arguments& arguments) {
  if (arguments.python && !arguments.source) {
    return misunderstand("--python is for --source", arguments.json);
  }
  const Result<KeyRing> keys = known_keys(arguments);
  if (!keys) return refuse(keys.error(), arguments.json);
  Input bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  const Result<VerifiedEnvelope> verdict = open_signed(bytes, *keys);
  if (!verdict) return refuse(verdict.error(), arguments.json);
  const Envelope* const envelope = &**verdict;
  const Result<void> are_right = check_with_progress(*envelope);
  if (!are_right) return refuse(are_right.error(), arguments.json);

  const auto signature = keys->size() != 0 ? signature_info(*envelope) : std::nullopt;
  const std::string told = verdict_of(*envelope, signature, arguments.json);
  if (arguments.source) return compare_source(*envelope, told, arguments);
  std::puts(told.c_str());
  return Exit::kFine;
}

}  // namespace

const Command kVerify = {"verify", "Check every byte of an envelope", declare_verify,
                         run_verify};

}  // namespace waybill::cli
