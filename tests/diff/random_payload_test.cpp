// Payloads made from the grammar are sound to verify(), and all who read what it
// accepts come to their end.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/parsed_json.h"
#include "format/attribute_targets.h"
#include "format/random_payload.h"
#include "format/source_locations.h"
#include "verify/verified_prefix.h"
#include "waybill/diff.h"
#include "waybill/policy.h"
#include "waybill/report.h"
#include "waybill/value.h"

namespace waybill {
namespace {

using samples::Bytes;

constexpr unsigned kSeeds = 500;

TEST(RandomPayload, IsAcceptedAndReadByAll) {
  const Policy data;
  const Policy most = *Policy::from_text("allow code\nallow call *");
  std::set<std::string> kinds;

  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Bytes bytes = samples::RandomPayload(seed).sealed();
    const Result<Envelope> opened = open_whole(bytes);
    ASSERT_TRUE(opened) << opened.error().detail;
    const Result<VerifiedEnvelope> envelope = verify(*opened);
    ASSERT_TRUE(envelope) << envelope.error().detail;

    const ParsedJson report(report_json(*envelope));
    EXPECT_FALSE(report["payload"].contains("error"));
    for (const std::string& kind : report["payload"]["statistics"]["nodes"].keys()) {
      kinds.insert(kind);
    }
    EXPECT_FALSE(report_text(*envelope, {.instructions = true}).empty());
    EXPECT_FALSE(diff(*envelope, *envelope).differs);
    EXPECT_TRUE(check_policy(*envelope, most));
    const bool is_data = check_policy(*envelope, data).has_value();
    const bool is_read = read_value(*envelope).has_value();
    EXPECT_TRUE(is_data || !is_read);
    static_cast<void>(read_value(*envelope, {}, Objects::kStandard));
    static_cast<void>(envelope::find_attribute_targets(*envelope));
    for (const auto& location : envelope::first_locations(*envelope)) {
      EXPECT_TRUE(!location.is_known || location.first_line == 2);
    }
    const auto prefix = envelope::VerifiedPrefix::make(*envelope);
    EXPECT_TRUE(prefix == nullptr || (prefix->begin(bytes) && prefix->check_value()));
  }

  // All but hashes of definitions, which are refused.
  EXPECT_EQ(kinds.size(), envelope::kShapes.size() - 1);
}

// What differs is told without looking at what the grammar does not promise.
TEST(RandomPayload, IsComparedWithOthers) {
  Bytes before = samples::RandomPayload(0).sealed();

  for (unsigned seed = 1; seed < kSeeds; ++seed) {
    const Bytes after = samples::RandomPayload(seed).sealed();
    EXPECT_EQ(diff(*open(before), *open(after)).differs, before != after) << seed;
    before = after;
  }
}

}  // namespace
}  // namespace waybill
