#include <gtest/gtest.h>

#include "waybill/explanation.h"

namespace waybill {
namespace {

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
