// Any bytes, opened, verified and reported on: no crash, an error's offset lies within
// the input, and what is accepted opens again to the same parts.
//
// Mutated input seldom has the right digest, so the input is tried with a repaired one
// too, as if it ended as an unsigned envelope does, and as if its head did that its
// last bytes name.

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "format/buffer_table.h"
#include "format/manifest_codec.h"
#include "format/manifest_codec.h"
#include "require.h"
#include "waybill/diff.h"
#include "waybill/envelope.h"
#include "waybill/report.h"

namespace {

using waybill::fuzz::require;

// What was read is within the limits, and is read again as it is written.
void try_environment(const waybill::Environment& environment) {
  const auto written = waybill::envelope::with_environment({}, environment);
  waybill::wire::Reader reader(written);
  waybill::Manifest read;
  require(waybill::envelope::read_manifest(reader, read) && reader.at_end());
  require(waybill::envelope::with_environment({}, read.environment.value()) == written);
}

void try_out(waybill::BytesView bytes) {
  const auto envelope = waybill::open(bytes);
  if (!envelope) return require(envelope.error().offset <= bytes.size());
  require(envelope->size <= bytes.size());
  const auto again = waybill::open(bytes.first(envelope->size));
  require(again && again->payload.offset == envelope->payload.offset);

  if (envelope->manifest.environment) try_environment(*envelope->manifest.environment);

  const auto verdict = waybill::verify(*envelope);
  require(verdict || verdict.error().offset <= envelope->size);
  waybill::ReportOptions options;
  options.instructions = true;
  require(!waybill::report_json(*envelope, options).empty());
  require(!waybill::diff(*envelope, *again).differs);
}

// With the end that an envelope or head of this size has that is not signed.
void try_repaired(waybill::BytesView bytes, std::size_t head_size) {
  constexpr std::size_t kTail = 11;  // bin 8, eight bytes, nil.
  if (head_size < kTail) return;
  std::vector<std::uint8_t> repaired(bytes.begin(), bytes.end());
  const std::size_t end = head_size - kTail;
  const auto digest = waybill::base::digest_of(bytes.first(end));
  repaired[end] = 0xc4;
  repaired[end + 1] = 8;
  for (std::size_t i = 0; i < digest.size(); ++i) repaired[end + 2 + i] = digest[i];
  repaired[head_size - 1] = 0xc0;
  try_out(repaired);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const waybill::BytesView bytes(data, size);
  try_out(bytes);
  try_repaired(bytes, size);
  try_repaired(bytes, waybill::envelope::claimed_head(bytes).size());
  return 0;
}
