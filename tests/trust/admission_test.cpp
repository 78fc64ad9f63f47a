// What is let in on which terms. The ceiling of a process cannot be taken back, so what
// it does is tested in processes of their own: tests/python/untrusted/test_restrict.py.

#include "waybill/admission.h"

#include <gtest/gtest.h>

#include "format/samples.h"

namespace waybill {
namespace {

std::shared_ptr<const Policy> policy_of(std::string_view text) {
  return std::make_shared<const Policy>(*Policy::from_text(text));
}

TEST(Admission, WithoutTermsIsFree) {
  EXPECT_TRUE(Admission().is_free());
  EXPECT_FALSE(Admission().is_data_only());
  const samples::Bytes function = samples::function_envelope();
  EXPECT_TRUE(Admission().admit(function));
}

TEST(Admission, LimitsAreStrictWhereNothingButDataIsLetIn) {
  const Admission data({.policy = policy_of("")});
  EXPECT_TRUE(data.is_data_only());
  EXPECT_EQ(data.limits(), kStrictLimits);
  EXPECT_EQ(Admission({.policy = policy_of("allow code")}).limits(), Limits{});
  EXPECT_EQ(Admission({.policy = policy_of(""), .limits = Limits{}}).limits(),
            Limits{});
}

TEST(Admission, LetsDataInAndNothingElse) {
  const Admission data({.policy = policy_of("")});
  const samples::Bytes bytes = samples::data_envelope();
  const auto envelope = data.admit(bytes);
  ASSERT_TRUE(envelope);
  EXPECT_EQ((*envelope)->payload.bytes.size(), 9u);
  const samples::Bytes function = samples::function_envelope();
  const auto refused = data.admit(function);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kRefused);
}

TEST(Admission, RefusesWhatIsUnsoundBeforeItAsksThePolicy) {
  samples::Draft draft;
  samples::fill_with_function(draft);
  draft.shared.push_back(1);
  const samples::Bytes bytes = draft.sealed();
  const auto refused = Admission({.policy = policy_of("")}).admit(bytes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBadReference);
}

TEST(Admission, RefusesWhatFollowsTheEnvelope) {
  samples::Bytes bytes = samples::data_envelope();
  bytes.push_back(0);
  EXPECT_EQ(Admission().admit(bytes).error().code, ErrorCode::kTrailingBytes);
}

TEST(Admission, TellsWhatAPolicyObjectsTo) {
  const Admission admission({.policy = policy_of("allow lookup json")});
  EXPECT_EQ(admission.objection(Request::kLookup, "json", "dumps"), std::nullopt);
  EXPECT_EQ(admission.objection(Request::kCall, "json", "dumps"),
            "call of json:dumps, which no rule of the policy allows");
}

}  // namespace
}  // namespace waybill
