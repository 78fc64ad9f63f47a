#include "explain/part_queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/made_up.h"

namespace waybill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LargestParts, LeaveOutWhatOnlyWrapsOneOther) {
  const Explanation explanation = testing::service();

  // svc is little more than its clients.
  EXPECT_THAT(largest_parts(explanation, 10), ElementsAre(2, 3));
}

TEST(LargestParts, AreSortedBySizeAndThenAsTheyStand) {
  Explanation explanation;
  testing::add_part(explanation, 0, "task", 60);
  for (const std::uint64_t bytes : {10, 20, 20}) {
    testing::add_part(explanation, 0, ".part", bytes);
  }

  EXPECT_THAT(largest_parts(explanation, 10), ElementsAre(2, 3, 1));
  EXPECT_THAT(largest_parts(explanation, 2), ElementsAre(2, 3));
}

TEST(LargestParts, LeaveOutTheRootAndWhatHasNoBytes) {
  Explanation explanation;
  testing::add_part(explanation, 0, "task", 60, 60);
  testing::add_part(explanation, 0, ".buffer", 0);

  EXPECT_THAT(largest_parts(explanation, 10), IsEmpty());
  EXPECT_THAT(largest_parts(Explanation(), 10), IsEmpty());
}

}  // namespace
}  // namespace waybill
