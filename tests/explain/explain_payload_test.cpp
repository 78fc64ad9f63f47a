#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "explain/payload_walk.h"
#include "format/random_payload.h"
#include "format/samples.h"
#include "format/task_draft.h"
#include "waybill/explanation.h"
#include "waybill/parts.h"
#include "waybill/value.h"

namespace waybill {
namespace {

using data::List;
using data::Map;
using data::Tuple;
using namespace samples;
using Kind = ExplainedPart::Kind;

VerifiedEnvelope verified(const Bytes& bytes) {
  Result<VerifiedEnvelope> envelope = open_mapped(bytes);
  EXPECT_TRUE(envelope) << to_string(envelope.error());
  return *std::move(envelope);
}

Explanation explained(const Bytes& bytes) { return explain_payload(verified(bytes)); }

std::map<std::string, ExplainedPart> by_path(const Explanation& explanation) {
  std::map<std::string, ExplainedPart> found;
  for (std::size_t i = 0; i < explanation.parts.size(); ++i) {
    found[path_of(explanation, i).full] = explanation.parts[i];
  }
  return found;
}

// What is wrong with the sizes; empty if nothing is.
std::string mistake_in(const Explanation& explanation) {
  const std::vector<ExplainedPart>& parts = explanation.parts;
  if (parts.empty()) return "there is no root";
  std::uint64_t own = 0;
  std::vector<std::uint64_t> held(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0 && parts[i].parent >= i) return "a part before its holder";
    if (i != 0 && parts[i].step.empty()) return "a part without a step";
    if (parts[i].type.empty()) return "a part without a type";
    own += parts[i].own;
    if (i != 0) held[parts[i].parent] += parts[i].bytes;
  }
  if (own != parts[0].bytes) return "bytes that are nobody's own";
  if (parts[0].bytes > explanation.total) return "more bytes than there are";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].own + held[i] != parts[i].bytes) return "a part that is no sum";
  }
  return "";
}

// `def f(): return model.w`, each word in a line of its own, from 11 on.
BodyDraft body_of_f() {
  BodyDraft body;
  body.argument_count = 0;
  body.instructions = {151, 0, 116, 0, 106, 1, 83, 0};
  body.names = {"model", "w"};
  body.local_names = {};
  body.local_kinds = {};
  return body;
}

// The function f, whose global `model` is an object with an attribute `w`: 100 bytes.
void fill_with_model(Draft& draft) {
  draft.code.push_back(body_of_f().body());
  put(draft.payload, {function_head(0, 1), 0, map(1), "model",
                      node(NodeTag::kNewObject, 6), global("object"), array(0), map(0),
                      map(1), "w", binary(Bytes(100)), array(0), map(0)});
  put(draft.source_locations,
      {array(1),
       location("/home/ada/job.py", 11, Bytes{0xe8, 0, 0xed, 2, 0xec, 2, 0xe8, 0})});
}

std::map<std::string, ExplainedPart> parts_with_model(PythonVersion python) {
  Draft draft;
  draft.python = python;
  fill_with_model(draft);
  return by_path(explained(draft.sealed()));
}

TEST(ExplainPayload, TellsPathsAndSizesOfPlainData) {
  const Bytes bytes =
      *write_value(Map{{"a", List{1, 2}}, {7, std::string(200, 'x')}, {"b", 1}});

  const auto parts = by_path(explained(bytes));

  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts.at("obj").type, "dict");
  EXPECT_EQ(parts.at("obj").detail, "of 3");
  EXPECT_EQ(parts.at("obj['a']").bytes, 3u);
  EXPECT_EQ(parts.at("obj['a']").detail, "of 2");
  EXPECT_EQ(parts.at("obj[7]").type, "str");
  EXPECT_EQ(parts.at("obj[7]").bytes, 202u);
}

TEST(ExplainPayload, CountsWhatItSumsUp) {
  const Explanation explanation = explained(*write_value(List{1, "two", 3.0}));

  EXPECT_EQ(explanation.parts.size(), 1u);
  EXPECT_EQ(explanation.omitted_parts, 3u);
}

TEST(ExplainPayload, NamesGlobalsAndTheCodeThatLoadsThem) {
  const auto parts = parts_with_model({3, 11, 3495});

  const ExplainedPart& model = parts.at("f.__globals__['model']");
  EXPECT_EQ(model.variable, "model");
  EXPECT_EQ(model.type, "object");
  EXPECT_EQ(model.place.expression, "model.w");  // As the source goes on.
  EXPECT_EQ(model.place.function, "f");
  EXPECT_EQ(model.place.file, "/home/ada/job.py");
  EXPECT_EQ(model.place.line, 12u);
}

TEST(ExplainPayload, FollowsAttributesAsFarAsCodeAsksForThem) {
  const auto parts = parts_with_model({3, 11, 3495});

  const ExplainedPart& w = parts.at("f.__globals__['model'].w");
  EXPECT_EQ(w.bytes, 102u);
  EXPECT_EQ(w.place.expression, "model.w");
  EXPECT_EQ(w.place.line, 13u);
}

TEST(ExplainPayload, TellsTheFunctionOfAPythonWithoutATable) {
  const auto parts = parts_with_model({3, 10, 3439});

  const ExplainedPart& w = parts.at("f.__globals__['model'].w");
  EXPECT_EQ(w.place.expression, "model");
  EXPECT_EQ(w.place.function, "f");
  EXPECT_EQ(w.place.file, "/home/ada/job.py");
  EXPECT_EQ(w.place.line, 11u);
}

TEST(ExplainPayload, GivesCodeToWhoUsesItFirst) {
  const Bytes bytes = function_envelope();
  const VerifiedEnvelope envelope = verified(bytes);

  const auto parts = by_path(explain_payload(envelope));

  const std::uint64_t code =
      envelope->code[0].bytes.size() + envelope->code[1].bytes.size();
  EXPECT_EQ(parts.at("obj").bytes, envelope->payload.bytes.size() + code);
  EXPECT_GT(parts.at("obj[0]").own, code);
  EXPECT_TRUE(parts.at("obj[0]").is_shared);
  EXPECT_EQ(parts.at("obj[0].__globals__['np']").kind, Kind::kModule);
  EXPECT_EQ(parts.at("obj[0].__globals__['np']").detail, "numpy");
}

TEST(ExplainPayload, GivesStoredBuffersToWhoUsesThemFirst) {
  Draft draft;
  fill_with_buffers(draft);

  const auto parts = by_path(explained(draft.sealed()));

  EXPECT_EQ(parts.at("obj[1]").bytes, 100u + 5);
  EXPECT_EQ(parts.at("obj[1]").type, "memoryview");
  EXPECT_EQ(parts.at("obj").bytes, 110u + draft.payload.size());
  EXPECT_FALSE(parts.contains("obj[2]"));  // Counted with the first use of buffer 0.
}

TEST(ExplainPayload, NamesCellsByFreeVariables) {
  Draft draft;
  BodyDraft body;
  body.argument_count = 0;
  body.local_names = {"theirs", "ours"};
  body.local_kinds = {0x80, 0x80};
  body.instructions = {149, 2, 151, 0, 100, 0, 83, 0};
  draft.code.push_back(body.body());
  put(draft.payload, {array(2),
                      node(NodeTag::kFunction, 4),
                      0,
                      draft.here(),
                      main_namespace(),
                      array(2),
                      draft.here(),
                      node(NodeTag::kCell, 0),
                      node(NodeTag::kCell, 0),
                      map(1),
                      1,
                      array(2),
                      array(0),
                      array(0),
                      node(NodeTag::kFunction, 4),
                      0,
                      reference(0),
                      array(2),
                      reference(1),
                      node(NodeTag::kCell, 0),
                      map(1),
                      1,
                      array(1),
                      map(0)});

  const auto parts = by_path(explained(draft.sealed()));

  EXPECT_EQ(parts.at("obj[0].__closure__[0].cell_contents").variable, "theirs");
  EXPECT_EQ(parts.at("obj[0].__closure__[1].cell_contents").variable, "ours");
  EXPECT_EQ(parts.at("obj[1].__closure__[1].cell_contents").type, "dict");
}

TEST(ExplainPayload, MarksStepsThatPythonCannotEvaluate) {
  Draft draft({map(1), node(NodeTag::kFrozenSet, 1), node(NodeTag::kTuple, 0),
               node(NodeTag::kSet, 1), node(NodeTag::kTuple, 0)});

  const Explanation explanation = explained(draft.sealed());

  const auto parts = by_path(explanation);
  for (const char* path : {"obj<key>", "obj<key><element 0>", "obj[<frozenset>]",
                           "obj[<frozenset>]<element 0>"}) {
    ASSERT_TRUE(parts.contains(path)) << path;
    EXPECT_FALSE(parts.at(path).evaluates) << path;
  }
}

TEST(ExplainPayload, TellsHowFarItIs) {
  const Bytes bytes = *write_value(List(std::vector<data::Value>(200'000)));
  std::vector<std::uint64_t> told;

  explain_payload(verified(bytes), [&](std::uint64_t done) { told.push_back(done); });

  EXPECT_GE(told.size(), 3u);
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_LT(told.back(), bytes.size());
}

TEST(ExplainPayload, KeysThatAreTooLongAreCut) {
  const Bytes bytes = *write_value(Map{{std::string(300, 'k'), List{}}});

  const auto parts = by_path(explained(bytes));

  const std::string path = "obj['" + std::string(99, 'k') + "…]";
  ASSERT_TRUE(parts.contains(path));
  EXPECT_FALSE(parts.at(path).evaluates);
  EXPECT_TRUE(parts.contains("obj<key>"));
}

TEST(ExplainPayload, FoldsTheSmallestOfTooManyParts) {
  Draft draft;
  draft.payload.array(100'001);
  for (int i = 0; i < 100'000; ++i) put(draft.payload, {array(1), 1});
  put(draft.payload, {array(1), binary(Bytes(5000))});

  const Explanation explanation = explained(draft.sealed());

  const auto parts = by_path(explanation);
  EXPECT_LE(explanation.parts.size(), envelope::kMaxExplainedParts);
  EXPECT_EQ(explanation.parts.size() + explanation.omitted_parts, 200'003u);
  EXPECT_EQ(parts.at("obj[100000][0]").bytes, 5003u);
  EXPECT_EQ(mistake_in(explanation), "");
}

TEST(ExplainPayload, OfDeepPayloadsIsBounded) {
  Draft draft({times(300'000, array(1)), array(0)});

  const Explanation explanation = explained(draft.sealed());

  EXPECT_LE(explanation.parts.size(), envelope::kMaxExplainedParts);
  EXPECT_GE(explanation.parts.size(), envelope::kMaxExplainedParts - 1);
  EXPECT_EQ(mistake_in(explanation), "");
}

// Of each array, looking at what it refers to would take as long as the payload is.
TEST(ExplainPayload, LooksAtWhatArraysReferToWithinABudget) {
  constexpr int kArrays = 5'000;
  Draft draft;
  draft.manifest.imports = {{"numpy", ImportTime::kLoad, "numpy", "", "", 0}};
  put(draft.payload, {array(kArrays + 1), draft.here(), node(NodeTag::kTuple, 100'000),
                      times(100'000, kNil)});
  for (int i = 0; i < kArrays; ++i) {
    put(draft.payload, {node(NodeTag::kObject, 5), global("ndarray", 0), array(5),
                        node(NodeTag::kTuple, 1), 3});
    for (int k = 0; k < 4; ++k) draft.payload.index(ExtType::kReference, 0);
    put(draft.payload, {object_end()});
  }

  const Explanation explanation = explained(draft.sealed());

  const auto parts = by_path(explanation);
  EXPECT_EQ(parts.at("obj[1]").type, "numpy.ndarray");
  EXPECT_EQ(parts.at("obj[1]").detail, "3");
  EXPECT_EQ(parts.at("obj[5000]").type, "numpy.ndarray");
  EXPECT_EQ(parts.at("obj[5000]").detail, "");
}

TEST(ExplainPayload, SizesOfRandomPayloadsAddUp) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Bytes bytes = RandomPayload(seed).sealed();
    const Explanation explanation = explained(bytes);

    EXPECT_EQ(mistake_in(explanation), "") << seed;
    EXPECT_FALSE(explanation_text(explanation).empty());
  }
}

// A function whose __name__ is not that of its code.
std::string root_called(std::string_view name) {
  Draft draft({function_head(0, 1), 8, name});
  draft.code.push_back(body_of_f().body());
  const Explanation explanation = explained(draft.sealed());
  return explanation.parts[0].step + (explanation.parts[0].evaluates ? "" : "!");
}

TEST(ExplainPayload, CallsTheRootByItsName) {
  EXPECT_EQ(root_called("renamed"), "renamed");
  EXPECT_EQ(root_called("<lambda>"), "obj");
  EXPECT_EQ(explained(*write_value(List{})).parts[0].step, "obj");
}

const std::filesystem::path golden(WAYBILL_TESTS_DIR "/golden/v1");

Bytes bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ExplainPayload, TellsClassesTheirMethodsAndTheirInstances) {
  const auto parts = by_path(explained(bytes_of(golden / "class-3.13.waybill")));

  EXPECT_EQ(parts.at("obj[0]").type, "type");
  EXPECT_EQ(parts.at("obj[0].__bases__[0]").type, "type");
  EXPECT_EQ(parts.at("obj[0].__bases__[0].__init__").type, "function");
  EXPECT_EQ(parts.at("obj[1]").type, "Base");
  EXPECT_EQ(parts.at("obj[0].__bases__[0].__bases__[0]").kind, Kind::kReference);
}

TEST(ExplainPayload, TellsDefinitionsWhereTheyAreReferredToFirst) {
  const auto write_last = Tokens{reference(kTaskType)};
  const Bytes bytes = TaskDraft({std::string(80, 'a')}, write_last).sealed();

  const Explanation explanation = explained(bytes);

  const auto parts = by_path(explanation);
  EXPECT_EQ(parts.at("obj").type, "tuple");
  EXPECT_EQ(parts.at("obj[0]").bytes, 82u);
  EXPECT_EQ(parts.at("obj[1]").type, "function");
  EXPECT_FALSE(parts.at("obj[1]").is_shared);
  EXPECT_EQ(parts.at("obj[2]").type, "type");
  EXPECT_TRUE(parts.at("obj[2]").is_shared);
  EXPECT_EQ(parts.at("obj[2].method").type, "function");
  EXPECT_FALSE(parts.contains("obj[3]"));
  EXPECT_EQ(mistake_in(explanation), "");
}

TEST(ExplainPayload, SizesOfGoldenPayloadsAddUp) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden)) {
    if (entry.path().extension() != ".waybill") continue;
    ++count;
    const Bytes bytes = bytes_of(entry.path());

    const Explanation explanation = explained(bytes);

    EXPECT_EQ(mistake_in(explanation), "") << entry.path();
    EXPECT_EQ(explanation.total, bytes.size()) << entry.path();
  }
  EXPECT_GT(count, 10u);
}

}  // namespace
}  // namespace waybill
