#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "explain/largest_parts.h"
#include "explain/made_up.h"
#include "waybill/explanation.h"

namespace waybill {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Json model_of(const Explanation& explanation) {
  return Json::parse(explanation_json(explanation));
}

std::vector<std::string> keys_of(const Json& row) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : row.items()) keys.push_back(key);
  return keys;
}

TEST(ExplanationJson, HasTheKeysThatItsPageDescribes) {
  Explanation explanation = testing::service();
  testing::add_blocker(explanation, "task.__globals__['svc'].lock");
  explanation.imports.emplace_back().record.module = "numpy";

  const Json model = model_of(explanation);

  EXPECT_THAT(keys_of(model), ElementsAre("total", "root", "summed_up", "source",
                                          "blockers", "largest", "parts", "imports"));
  EXPECT_THAT(
      keys_of(model["blockers"][0]),
      ElementsAre("path", "short", "evaluates", "paths", "path_count", "type", "reason",
                  "remedy", "expression", "function", "file", "line", "part"));
  EXPECT_THAT(keys_of(model["largest"][0]),
              ElementsAre("part", "path", "short", "evaluates", "bytes"));
  EXPECT_THAT(
      keys_of(model["parts"][0]),
      ElementsAre("parent", "step", "variable", "evaluates", "type", "detail", "kind",
                  "shared", "bytes", "own", "expression", "function", "file", "line"));
  EXPECT_THAT(
      keys_of(model["imports"][0]),
      ElementsAre("module", "time", "missing", "chain", "function", "file", "line"));
}

TEST(ExplanationJson, TellsOfSourceAndWhatHasNone) {
  Explanation explanation = testing::service();
  explanation.source = {1200, 3, {{"", "task", "job.py", 7}, {}}};

  const Json source = model_of(explanation)["source"];

  EXPECT_EQ(source["bytes"], 1200);
  EXPECT_EQ(source["functions"], 3);
  EXPECT_EQ(source["without"][0],
            Json({{"function", "task"}, {"file", "job.py"}, {"line", 7}}));
  EXPECT_TRUE(source["without"][1]["file"].is_null());
  EXPECT_TRUE(model_of(testing::service())["source"].is_null());
}

TEST(ExplanationJson, OfNothingHasEmptyLists) {
  const Json model = model_of(Explanation());

  EXPECT_EQ(model["total"], 0);
  EXPECT_TRUE(model["root"].is_null());
  for (const char* list : {"blockers", "largest", "parts", "imports"}) {
    EXPECT_TRUE(model[list].is_array() && model[list].empty()) << list;
  }
}

TEST(ExplanationJson, PartsReferToTheOneThatHoldsThem) {
  const Json parts = model_of(testing::service())["parts"];

  EXPECT_TRUE(parts[0]["parent"].is_null());
  EXPECT_EQ(parts[1]["parent"], 0);
  EXPECT_EQ(parts[3]["parent"], 2);
  EXPECT_EQ(parts[3]["step"], "['prod']");
}

TEST(ExplanationJson, BytesOfAPartAreItsOwnAndThoseOfWhatItHolds) {
  const Json parts = model_of(testing::service())["parts"];

  std::vector<std::uint64_t> sums;
  for (const Json& part : parts) sums.push_back(part["own"].get<std::uint64_t>());
  for (std::size_t i = parts.size(); i-- > 1;) {
    sums[parts[i]["parent"].get<std::size_t>()] += sums[i];
  }

  for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(parts[i]["bytes"], sums[i]);
}

TEST(ExplanationJson, SaysNullWhereNothingIsKnown) {
  Explanation explanation = testing::service();
  explanation.parts[1].place = {"svc", "task", "job.py", 7};

  const Json parts = model_of(explanation)["parts"];

  for (const char* key :
       {"variable", "detail", "expression", "function", "file", "line"}) {
    EXPECT_TRUE(parts[0][key].is_null()) << key;
  }
  EXPECT_EQ(parts[1]["variable"], "svc");
  EXPECT_EQ(parts[1]["line"], 7);
}

TEST(ExplanationJson, NamesEachKindOfPart) {
  Explanation explanation = testing::service();
  explanation.parts[1].kind = ExplainedPart::Kind::kReference;
  explanation.parts[2].kind = ExplainedPart::Kind::kModule;
  explanation.parts[3].kind = ExplainedPart::Kind::kOutOfBand;

  const Json parts = model_of(explanation)["parts"];

  std::vector<std::string> kinds;
  for (const Json& part : parts) kinds.push_back(part["kind"]);
  EXPECT_THAT(kinds, ElementsAre("value", "reference", "module", "out of band"));
}

TEST(ExplanationJson, SaysWhichPartHoldsABlocker) {
  Explanation explanation = testing::service();
  testing::add_blocker(explanation, "task.__globals__['svc'].clients.lock");

  EXPECT_EQ(model_of(explanation)["blockers"][0]["part"], 2);
}

TEST(ExplanationJson, LargestHaveTheirPaths) {
  const Json largest = model_of(testing::service())["largest"];

  EXPECT_EQ(largest[1]["part"], 3);
  EXPECT_EQ(largest[1]["path"], "task.__globals__['svc'].clients['prod']");
  EXPECT_EQ(largest[1]["short"], "svc.clients['prod']");
}

TEST(ExplanationJson, SaysWhichImportsAreMissing) {
  Explanation explanation;
  explanation.imports.resize(2);
  explanation.imports[1].is_missing = true;

  const Json imports = model_of(explanation)["imports"];

  EXPECT_FALSE(imports[0]["missing"]);
  EXPECT_TRUE(imports[1]["missing"]);
  EXPECT_EQ(imports[0]["time"], "load");
}

TEST(ExplanationJson, OfADeepChainIsNeitherNestedNorLong) {
  constexpr std::size_t kDepth = 100'000;

  const Explanation explanation = testing::chain(kDepth);
  const auto largest = std::ssize(largest_parts(explanation, 100));

  const std::string json = explanation_json(explanation);

  EXPECT_EQ(std::ranges::count(json, '{'), 1 + kDepth + largest);
  EXPECT_LT(json.size(), kDepth * 300);
}

TEST(ExplanationJson, OfAChainIsReadByAnyReader) {
  const Json parts = model_of(testing::chain(2000))["parts"];

  EXPECT_EQ(parts.size(), 2000U);
  EXPECT_EQ(parts[1999]["parent"], 1998);
}

TEST(ExplanationJson, PathsThatAreTooLongAreNull) {
  Explanation explanation = testing::service();
  explanation.parts[3].step = "['" + std::string(5000, 'k') + "']";

  const Json largest = model_of(explanation)["largest"];

  EXPECT_TRUE(largest[1]["path"].is_null());
  EXPECT_TRUE(largest[0]["path"].is_string());
}

TEST(ExplanationJson, EscapesNamesThatWouldMoveACursor) {
  Explanation explanation = testing::service();
  explanation.parts[3].step = "['\x1b[2J\u202e\xff\"\n']";

  const std::string json = explanation_json(explanation);

  EXPECT_THAT(json, Not(HasSubstr("\x1b")));
  EXPECT_THAT(json, Not(HasSubstr("\u202e")));
  EXPECT_EQ(Json::parse(json)["parts"][3]["step"], "['\x1b[2J\u202e\ufffd\"\n']");
}

}  // namespace
}  // namespace waybill
