// Opens, verifies and reports on arbitrary bytes: no crash, errors lie at an offset in
// the input, and an accepted envelope opens again to the same parts.
//
// Mutated input seldom has a correct digest. So each input is also tried with a
// repaired one: at its end, as an unsigned envelope has it, and at the end of the head
// whose size its last bytes give.

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "format/buffer_table.h"
#include "format/manifest_codec.h"
#include "require.h"
#include "waybill/diff.h"
#include "waybill/envelope.h"
#include "waybill/report.h"

namespace {

using waybill::fuzz::require;

// An environment that was read is written and read again without change.
void check_environment(const waybill::Environment& environment) {
  const auto written = waybill::envelope::with_environment({}, environment);
  waybill::wire::Reader reader(written);
  waybill::Manifest read;
  require(waybill::envelope::read_manifest(reader, read) && reader.at_end());
  require(waybill::envelope::with_environment({}, read.environment.value()) == written);
}

void check_envelope(waybill::BytesView bytes) {
  const auto envelope = waybill::open(bytes);
  if (!envelope) return require(envelope.error().offset <= bytes.size());
  require(envelope->size <= bytes.size());
  const auto again = waybill::open(bytes.first(envelope->size));
  require(again && again->payload.offset == envelope->payload.offset);

  if (envelope->manifest.environment)
    check_environment(*envelope->manifest.environment);

  const auto verdict = waybill::verify(*envelope);
  require(verdict || verdict.error().offset <= envelope->size);
  waybill::ReportOptions options;
  options.instructions = true;
  require(!waybill::report_json(*envelope, options).empty());
  require(!waybill::diff(*envelope, *again).differs);
}

// Checks the bytes with the digest and end of an unsigned envelope or head of this
// size.
void check_repaired(waybill::BytesView bytes, std::size_t head_size) {
  constexpr std::size_t kTail = 11;  // bin 8, eight bytes, nil.
  if (head_size < kTail) return;
  std::vector<std::uint8_t> repaired(bytes.begin(), bytes.end());
  const std::size_t end = head_size - kTail;
  const auto digest = waybill::base::digest_of(bytes.first(end));
  repaired[end] = 0xc4;
  repaired[end + 1] = 8;
  for (std::size_t i = 0; i < digest.size(); ++i) repaired[end + 2 + i] = digest[i];
  repaired[head_size - 1] = 0xc0;
  check_envelope(repaired);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const waybill::BytesView bytes(data, size);
  check_envelope(bytes);
  check_repaired(bytes, size);
  check_repaired(bytes, waybill::envelope::claimed_head(bytes).size());
  return 0;
}
