// waybill verify FILE: whether an envelope is sound, and signed by a known key. Runs no
// Python.
// Tested by tests/cli/test_inspect.py and test_sign.py.

#include <algorithm>
#include <cstdio>

#include "cli/command.h"
#include "cli/progress.h"
#include "waybill/parts.h"
#include "waybill/signature.h"

namespace waybill::cli {
namespace {

void declare(Options& options, Arguments& arguments) {
  options.text("FILE", arguments.file, "An envelope, or - for stdin");
  options.flag("--json", arguments.json, "Write one JSON object");
  declare_known_keys(options, arguments);
}

Result<void> check_with_progress(const Envelope& envelope) {
  ProgressLine line(envelope.size);
  return check_buffers(envelope, [&](std::uint64_t done) { line.show(done); });
}

Exit run(const Arguments& arguments) {
  const Result<KeyRing> keys = known_keys(arguments);
  if (!keys) return refuse(keys.error(), arguments.json);
  Input bytes;
  if (!read_input(arguments.file, arguments.json, bytes)) return Exit::kUnreadable;
  const bool checks_signature = keys->size() != 0;
  if (checks_signature) {  // Before anything is parsed.
    const Result<void> signed_by_one = keys->check(bytes);
    if (!signed_by_one) {
      return refuse(with_extent(signed_by_one.error(), bytes), arguments.json);
    }
  }
  const Result<VerifiedEnvelope> verdict = open_mapped(BytesView(bytes));
  if (!verdict) return refuse(verdict.error(), arguments.json);
  const Envelope* const envelope = &**verdict;
  const Result<void> are_right = check_with_progress(*envelope);
  if (!are_right) return refuse(are_right.error(), arguments.json);

  const auto imports = static_cast<std::size_t>(std::ranges::count_if(
      envelope->manifest.imports,
      [](const ImportRecord& record) { return !record.is_own(); }));
  const std::size_t bodies = envelope->code.size();
  const auto signature = checks_signature ? signature_info(*envelope) : std::nullopt;
  if (arguments.json) {
    std::puts(
        success_json({{"size", envelope->size}, {"imports", imports}, {"code", bodies}},
                     signature)
            .c_str());
    return Exit::kFine;
  }
  std::printf("sound: %zu bytes, %zu import%s, %zu code bod%s", envelope->size, imports,
              imports == 1 ? "" : "s", bodies, bodies == 1 ? "y" : "ies");
  if (signature) {
    std::printf(", signed by the %s key %s",
                std::string(name_of(signature->algorithm)).c_str(),
                to_string(signature->key).c_str());
  }
  std::puts("");
  return Exit::kFine;
}

}  // namespace

const Command kVerify = {"verify", "Check every byte of an envelope", declare, run};

}  // namespace waybill::cli
