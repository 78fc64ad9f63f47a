// An arbitrary payload as plain data: errors lie at an offset in the input; a value
// that was read can be written, reads the same again and is written to the same bytes
// again; it has JSON, unless that is too long. Objects of the standard library have
// JSON too.
//
// Input: the number of shared positions in one byte; these, two bytes each; the rest is
// the payload.

#include <cstdint>
#include <vector>

#include "require.h"
#include "waybill/gate.h"
#include "waybill/value_json.h"

using waybill::BytesView;
using waybill::fuzz::require;

namespace {

void require_json(const waybill::data::Value& value) {
  const auto json = waybill::value_json(value);
  require(json || json.error().code == waybill::ErrorCode::kLimitExceeded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size < 1 + 2 * std::size_t{data[0]}) return 0;
  std::vector<std::uint64_t> shared;
  for (std::size_t i = 0; i < data[0]; ++i) {
    shared.push_back(std::uint64_t{data[1 + 2 * i]} << 8 | data[2 + 2 * i]);
  }
  waybill::Parts parts;
  parts.shared = shared;
  parts.payload = BytesView(data, size).subspan(1 + 2 * shared.size());
  std::vector<std::uint8_t> sealed;
  waybill::seal(parts, sealed);

  waybill::Limits limits = waybill::kStrictLimits;
  limits.max_memory = std::size_t{1} << 24;
  waybill::LoadOptions load_options;
  load_options.limits = limits;
  const auto standard = waybill::read_value(sealed, waybill::Gate(load_options),
                                            waybill::Objects::kStandard);
  if (standard) require_json(*standard);
  const auto value = waybill::read_value(sealed, limits);
  if (!value) {
    require(value.error().offset <= sealed.size());
    return 0;
  }
  const auto written = waybill::write_value(*value);
  require(written.has_value());
  const auto again = waybill::read_value(*written, waybill::Limits{});
  require(again.has_value());
  require(*waybill::write_value(*again) == *written);
  require_json(*value);
  return 0;
}
