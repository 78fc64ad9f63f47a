// What passes under which load options. The ceiling of a process cannot be taken back,
// so what it does is tested in processes of their own:
// tests/python/untrusted/test_restrict.py.

#include "waybill/gate.h"

#include <gtest/gtest.h>

#include "base/fails.h"
#include "format/samples.h"

namespace waybill {
namespace {

std::shared_ptr<const Policy> policy_of(std::string_view text) {
  return std::make_shared<const Policy>(*Policy::from_text(text));
}

TEST(Gate, WithoutOptionsIsFree) {
  EXPECT_TRUE(Gate().is_free());
  EXPECT_FALSE(Gate().is_data_only());
  const samples::Bytes function = samples::function_envelope();
  EXPECT_TRUE(Gate().open_trusted(function));
}

TEST(Gate, LimitsAreStrictWhereNothingButDataIsLetIn) {
  const Gate data({.policy = policy_of("")});
  EXPECT_TRUE(data.is_data_only());
  EXPECT_EQ(data.limits(), kStrictLimits);
  EXPECT_EQ(Gate({.policy = policy_of("allow code")}).limits(), Limits{});
  EXPECT_EQ(Gate({.policy = policy_of(""), .limits = Limits{}}).limits(), Limits{});
}

TEST(Gate, LetsDataInAndNothingElse) {
  const Gate data({.policy = policy_of("")});
  const samples::Bytes bytes = samples::data_envelope();
  const auto envelope = data.open_trusted(bytes);
  ASSERT_TRUE(envelope);
  EXPECT_EQ((*envelope)->payload.bytes.size(), 9u);
  const samples::Bytes function = samples::function_envelope();
  EXPECT_THAT(data.open_trusted(function), Fails(ErrorCode::kRefused));
}

TEST(Gate, RefusesWhatIsUnsoundBeforeItAsksThePolicy) {
  samples::Draft draft;
  samples::fill_with_function(draft);
  draft.shared.push_back(1);
  const samples::Bytes bytes = draft.sealed();
  EXPECT_THAT(Gate({.policy = policy_of("")}).open_trusted(bytes),
              Fails(ErrorCode::kBadReference));
}

TEST(Gate, RefusesWhatFollowsTheEnvelope) {
  samples::Bytes bytes = samples::data_envelope();
  bytes.push_back(0);
  EXPECT_EQ(Gate().open_trusted(bytes).error().code, ErrorCode::kTrailingBytes);
}

TEST(Gate, TellsWhatAPolicyObjectsTo) {
  const Gate gate({.policy = policy_of("allow lookup json")});
  EXPECT_EQ(gate.refusal(Request::kLookup, "json", "dumps"), std::nullopt);
  EXPECT_EQ(gate.refusal(Request::kCall, "json", "dumps"),
            "call of json:dumps, which no rule of the policy allows");
}

}  // namespace
}  // namespace waybill
