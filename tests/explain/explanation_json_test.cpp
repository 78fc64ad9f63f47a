#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/parsed_json.h"
#include "explain/part_queries.h"
#include "explain/sample_explanations.h"
#include "waybill/explanation.h"

namespace waybill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ParsedJson model_of(const Explanation& explanation) {
  return ParsedJson(explanation_json(explanation));
}

TEST(ExplanationJson, HasTheKeysThatItsPageDescribes) {
  Explanation explanation = testing::service();
  testing::add_blocker(explanation, "task.__globals__['svc'].lock");
  explanation.imports.emplace_back().record.module = "numpy";

  const ParsedJson model = model_of(explanation);

  EXPECT_THAT(model.keys(), ElementsAre("total", "root", "omitted_parts", "source",
                                        "blockers", "largest", "parts", "imports"));
  EXPECT_THAT(
      model["blockers"][0].keys(),
      ElementsAre("path", "short", "evaluates", "paths", "path_count", "type", "reason",
                  "remedy", "expression", "function", "file", "line", "part"));
  EXPECT_THAT(model["largest"][0].keys(),
              ElementsAre("part", "path", "short", "evaluates", "bytes"));
  EXPECT_THAT(
      model["parts"][0].keys(),
      ElementsAre("parent", "step", "variable", "evaluates", "type", "detail", "kind",
                  "shared", "bytes", "own", "expression", "function", "file", "line"));
  EXPECT_THAT(
      model["imports"][0].keys(),
      ElementsAre("module", "time", "missing", "chain", "function", "file", "line"));
}

TEST(ExplanationJson, TellsOfSourceAndWhatHasNone) {
  Explanation explanation = testing::service();
  explanation.source = {1200, 3, {{"", "task", "job.py", 7}, {}}};

  const ParsedJson source = model_of(explanation)["source"];

  EXPECT_EQ(source["bytes"], 1200);
  EXPECT_EQ(source["functions"], 3);
  EXPECT_EQ(source["without"][0],
            ParsedJson(R"({"function": "task", "file": "job.py", "line": 7})"));
  EXPECT_EQ(source["without"][1]["file"], nullptr);
  EXPECT_EQ(model_of(testing::service())["source"], nullptr);
}

TEST(ExplanationJson, OfNothingHasEmptyLists) {
  const ParsedJson model = model_of(Explanation());

  EXPECT_EQ(model["total"], 0);
  EXPECT_EQ(model["root"], nullptr);
  for (const char* list : {"blockers", "largest", "parts", "imports"}) {
    EXPECT_EQ(model[list], ParsedJson("[]")) << list;
  }
}

TEST(ExplanationJson, PartsReferToTheOneThatHoldsThem) {
  const ParsedJson parts = model_of(testing::service())["parts"];

  EXPECT_EQ(parts[0]["parent"], nullptr);
  EXPECT_EQ(parts[1]["parent"], 0);
  EXPECT_EQ(parts[3]["parent"], 2);
  EXPECT_EQ(parts[3]["step"], "['prod']");
}

TEST(ExplanationJson, BytesOfAPartAreItsOwnAndThoseOfWhatItHolds) {
  const ParsedJson parts = model_of(testing::service())["parts"];

  std::vector<std::uint64_t> sums;
  for (const ParsedJson& part : parts.items()) sums.push_back(part["own"].number());
  for (std::size_t i = parts.size(); i-- > 1;) {
    sums[parts[i]["parent"].number()] += sums[i];
  }

  for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(parts[i]["bytes"], sums[i]);
}

TEST(ExplanationJson, SaysNullWhereNothingIsKnown) {
  Explanation explanation = testing::service();
  explanation.parts[1].place = {"svc", "task", "job.py", 7};

  const ParsedJson parts = model_of(explanation)["parts"];

  for (const char* key :
       {"variable", "detail", "expression", "function", "file", "line"}) {
    EXPECT_EQ(parts[0][key], nullptr) << key;
  }
  EXPECT_EQ(parts[1]["variable"], "svc");
  EXPECT_EQ(parts[1]["line"], 7);
}

TEST(ExplanationJson, NamesEachKindOfPart) {
  Explanation explanation = testing::service();
  explanation.parts[1].kind = ExplainedPart::Kind::kReference;
  explanation.parts[2].kind = ExplainedPart::Kind::kModule;
  explanation.parts[3].kind = ExplainedPart::Kind::kOutOfBand;

  const ParsedJson parts = model_of(explanation)["parts"];

  std::vector<std::string> kinds;
  for (const ParsedJson& part : parts.items()) kinds.push_back(part["kind"].text());
  EXPECT_THAT(kinds, ElementsAre("value", "reference", "module", "out of band"));
}

TEST(ExplanationJson, SaysWhichPartHoldsABlocker) {
  Explanation explanation = testing::service();
  testing::add_blocker(explanation, "task.__globals__['svc'].clients.lock");

  EXPECT_EQ(model_of(explanation)["blockers"][0]["part"], 2);
}

TEST(ExplanationJson, LargestHaveTheirPaths) {
  const ParsedJson largest = model_of(testing::service())["largest"];

  EXPECT_EQ(largest[1]["part"], 3);
  EXPECT_EQ(largest[1]["path"], "task.__globals__['svc'].clients['prod']");
  EXPECT_EQ(largest[1]["short"], "svc.clients['prod']");
}

TEST(ExplanationJson, SaysWhichImportsAreMissing) {
  Explanation explanation;
  explanation.imports.resize(2);
  explanation.imports[1].is_missing = true;

  const ParsedJson imports = model_of(explanation)["imports"];

  EXPECT_EQ(imports[0]["missing"], false);
  EXPECT_EQ(imports[1]["missing"], true);
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
  const ParsedJson parts = model_of(testing::chain(2000))["parts"];

  EXPECT_EQ(parts.size(), 2000U);
  EXPECT_EQ(parts[1999]["parent"], 1998);
}

TEST(ExplanationJson, PathsThatAreTooLongAreNull) {
  Explanation explanation = testing::service();
  explanation.parts[3].step = "['" + std::string(5000, 'k') + "']";

  const ParsedJson largest = model_of(explanation)["largest"];

  EXPECT_EQ(largest[1]["path"], nullptr);
  EXPECT_EQ(largest[0]["path"], "task.__globals__['svc'].clients");
}

TEST(ExplanationJson, EscapesNamesThatWouldMoveACursor) {
  Explanation explanation = testing::service();
  explanation.parts[3].step = "['\x1b[2J\u202e\xff\"\n']";

  const std::string json = explanation_json(explanation);

  EXPECT_THAT(json, Not(HasSubstr("\x1b")));
  EXPECT_THAT(json, Not(HasSubstr("\u202e")));
  EXPECT_EQ(ParsedJson(json)["parts"][3]["step"], "['\x1b[2J\u202e\ufffd\"\n']");
}

}  // namespace
}  // namespace waybill
