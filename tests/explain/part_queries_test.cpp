#include "explain/part_queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "explain/sample_explanations.h"
#include "waybill/explanation.h"

namespace waybill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Holders, IsThePartWithTheLongestPathThatTheBlockersPathBeginsWith) {
  const Explanation explanation = testing::service();
  const struct {
    const char* steps;
    int part;
    bool is_part;
  } rows[] = {
      {".clients.lock", 2, false},
      {".clients['prod']", 3, true},
      {".clients_lock", 1, false},  // A step that only begins like another.
  };
  for (const auto& row : rows) {
    const std::string path = std::string("task.__globals__['svc']") + row.steps;

    const auto found = Holders(explanation).find(path);

    EXPECT_EQ(found.part, row.part) << path;
    EXPECT_EQ(found.is_part, row.is_part) << path;
  }
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

ExplainedPart part(std::size_t parent, std::string step, std::string variable = "") {
  ExplainedPart made;
  made.parent = parent;
  made.step = std::move(step);
  made.variable = std::move(variable);
  return made;
}

Explanation function_with_a_global() {
  Explanation made;
  made.parts = {part(0, "task"),     part(0, ".__globals__['svc']", "svc"),
                part(1, ".clients"), part(2, "['prod']"),
                part(3, "[0]"),      part(0, ".__defaults__")};
  return made;
}

TEST(PartPath, OfTheRootIsItsName) {
  const PartPath path = path_of(function_with_a_global(), 0);
  EXPECT_EQ(path.full, "task");
  EXPECT_EQ(path.short_path, "task");
  EXPECT_TRUE(path.evaluates);
}

TEST(PartPath, JoinsStepsAndBeginsShortAtTheLastVariable) {
  const PartPath path = path_of(function_with_a_global(), 4);
  EXPECT_EQ(path.full, "task.__globals__['svc'].clients['prod'][0]");
  EXPECT_EQ(path.short_path, "svc.clients['prod'][0]");
}

TEST(PartPath, DoesNotEvaluateWhereOneStepDoesNot) {
  Explanation explanation = function_with_a_global();
  explanation.parts[2].evaluates = false;
  EXPECT_FALSE(path_of(explanation, 4).evaluates);
  EXPECT_TRUE(path_of(explanation, 5).evaluates);
}

TEST(PartPath, OfWhatIsNotThereIsEmpty) {
  EXPECT_EQ(path_of(Explanation(), 0).full, "");
  EXPECT_EQ(path_of(function_with_a_global(), 6).full, "");
}

}  // namespace
}  // namespace waybill
