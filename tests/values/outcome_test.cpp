// Outcomes that C++ makes.

#include <gtest/gtest.h>

#include "waybill/outcome.h"
#include "waybill/signature.h"
#include "waybill/value.h"

namespace waybill {
namespace {

using data::Map;

TEST(FailedOutcome, IsPlainData) {
  const auto outcome = failed_outcome("timed_out", "after 2 s");

  ASSERT_TRUE(outcome);
  const auto value = read_value(*outcome);
  ASSERT_TRUE(value);
  EXPECT_EQ(*value,
            (Map{{"failed", Map{{"code", "timed_out"}, {"detail", "after 2 s"}}}}));
}

TEST(FailedOutcome, TellsWhatItCanOfTextThatIsNoUtf8) {
  const auto value = read_value(*failed_outcome("died", "caf\xe9 \xff!"));

  ASSERT_TRUE(value);
  EXPECT_EQ(*value, (Map{{"failed", Map{{"code", "died"}, {"detail", "caf? ?!"}}}}));
}

TEST(FailedOutcome, IsSignedIfAsked) {
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kMac);
  KeyRing ring;
  ring.add(key);

  EXPECT_TRUE(ring.check(*failed_outcome("a", "b", &key)));
  EXPECT_FALSE(ring.check(*failed_outcome("a", "b")));
}

}  // namespace
}  // namespace waybill
