#include "explain/part_queries.h"

#include <gtest/gtest.h>

#include "explain/made_up.h"

namespace waybill {
namespace {

TEST(Holders, IsThePartWithTheLongestPathThatTheBlockersPathBeginsWith) {
  const Explanation explanation = testing::service();

  const auto found = Holders(explanation).find("task.__globals__['svc'].clients.lock");

  EXPECT_EQ(found.part, 2);
  EXPECT_FALSE(found.is_part);
}

TEST(Holders, TellsWhenTheBlockerIsThePart) {
  const Explanation explanation = testing::service();

  const auto found =
      Holders(explanation).find("task.__globals__['svc'].clients['prod']");

  EXPECT_EQ(found.part, 3);
  EXPECT_TRUE(found.is_part);
}

TEST(Holders, TakesNoStepThatOnlyBeginsLikeAnother) {
  const Explanation explanation = testing::service();

  EXPECT_EQ(Holders(explanation).find("task.__globals__['svc'].clients_lock").part, 1);
}

TEST(Holders, TakesTheLongestOfStepsThatBeginAlike) {
  Explanation explanation = testing::service();
  const std::size_t cell = testing::add_part(explanation, 1, ".clients[0]", 1);
  testing::add_part(explanation, 1, ".clients[0].x", 1);
  testing::add_part(explanation, 1, ".clients[1]", 1);

  EXPECT_EQ(Holders(explanation).find("task.__globals__['svc'].clients[0].lock").part,
            cell);
}

TEST(Holders, OfAnUnknownPathIsTheRoot) {
  const Explanation explanation = testing::service();

  EXPECT_EQ(Holders(explanation).find("other.lock").part, 0);
  EXPECT_FALSE(Holders(Explanation()).find("task").is_part);
}

TEST(Holders, AreFoundAtAnyDepth) {
  const Explanation explanation = testing::chain(2000);
  std::string path = "task";
  for (int i = 1; i < 2000; ++i) path += ".next";

  EXPECT_EQ(Holders(explanation).find(path + ".lock").part, 1999);
}

}  // namespace
}  // namespace waybill
