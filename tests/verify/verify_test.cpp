#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "format/samples.h"
#include "format/shapes.h"
#include "format/verdict.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using namespace samples;

// "sound", or the name of the error, for an envelope with this payload.
std::string verdict_on_payload(const Tokens& payload,
                               std::vector<std::uint64_t> shared = {}) {
  Draft draft;
  draft.manifest.imports = {{"json", ImportTime::kLoad, "json", "", "", 0},
                            {"os", ImportTime::kCall, "os", "", "", 0}};
  draft.shared = std::move(shared);
  put(draft.payload, payload);
  return verdict_name(draft);
}

std::string verdict_on_body(const BodyDraft& body) {
  Draft draft;
  draft.code.push_back(body.body());
  draft.payload.nil();
  return verdict_name(draft);
}

TEST(Verify, AcceptsTheSamples) {
  Draft data, function;
  samples::fill_with_data(data);
  samples::fill_with_function(function);

  EXPECT_TRUE(verdict_on(data));
  const Result<void> verdict = verdict_on(function);
  EXPECT_TRUE(verdict) << to_string(verdict.error());
}

TEST(Verify, KnowsAShapeForEachTag) {
  EXPECT_EQ(envelope::kShapes.size(), 25u);
  EXPECT_EQ(envelope::shape_of(0), nullptr);
  EXPECT_EQ(envelope::shape_of(26), nullptr);
  EXPECT_EQ(envelope::shape_of(16)->name, "class");
}

TEST(Verify, IdsAreBinary) {
  const auto with_id = [](const Token& id) {
    return verdict_on_payload({node(NodeTag::kIdentified, 2), id, kNil});
  };
  EXPECT_EQ(with_id(binary({})), "sound");
  EXPECT_EQ(with_id(kNil), "malformed");
  EXPECT_EQ(with_id("id"), "malformed");
}

TEST(Verify, ClassesNeedNoId) {
  const auto with_id = [](const Token& id) {
    return verdict_on_payload(
        {node(NodeTag::kClass, 6), id, kNil, "C", array(0), map(0), map(0)});
  };
  EXPECT_EQ(with_id(binary({})), "sound");
  EXPECT_EQ(with_id(kNil), "sound");
  EXPECT_EQ(with_id(1), "malformed");
}

TEST(Verify, NumbersOfBuffersAndPayloadsAreNotNegative) {
  const std::pair<NodeTag, Token> rows[] = {{NodeTag::kBuffer, true},
                                            {NodeTag::kStreamReference, 0}};
  for (const auto& [tag, second] : rows) {
    EXPECT_EQ(verdict_on_payload({node(tag, 2), 0, second}), "sound");
    EXPECT_EQ(verdict_on_payload({node(tag, 2), -1, second}), "malformed");
  }
}

// "sound", or the name of the error, for a list of these stored buffers of the samples.
std::string verdict_on_stored(const std::vector<std::int64_t>& numbers) {
  Draft draft;
  samples::fill_with_buffers(draft);
  draft.payload.clear();
  draft.payload.array(numbers.size());
  for (const std::int64_t number : numbers) {
    put(draft.payload, {node(NodeTag::kStored, 1), number});
  }
  return verdict_name(draft);
}

TEST(Verify, StoredBuffersAreNumberedInOrderOfFirstUse) {
  EXPECT_EQ(verdict_on_stored({0, 1}), "sound");
  EXPECT_EQ(verdict_on_stored({0, 0, 1, 0}), "sound");
  EXPECT_EQ(verdict_on_stored({1, 0}), "bad_reference");
}

TEST(Verify, EachStoredBufferIsUsedAndThere) {
  EXPECT_EQ(verdict_on_stored({0}), "bad_reference");
  EXPECT_EQ(verdict_on_stored({}), "bad_reference");
  EXPECT_EQ(verdict_on_stored({0, 1, 2}), "undeclared");
  EXPECT_EQ(verdict_on_stored({-1}), "malformed");
  EXPECT_EQ(verdict_on_payload({node(NodeTag::kStored, 1), 0}), "undeclared");
}

TEST(Verify, StoredBuffersAreNoConstants) {
  BodyDraft body;
  body.write_constants = Tokens{array(1), node(NodeTag::kStored, 1), 0};
  EXPECT_EQ(verdict_on_body(body), "malformed");
}

TEST(Verify, NeedsNoBytesOfStoredBuffers) {
  const Bytes bytes = samples::buffers_envelope();

  EXPECT_TRUE(verify(*open_head(bytes)));
}

TEST(Verify, LetsAnEarlierPayloadHaveTheNamespaceOfAModule) {
  const Token earlier = Tokens{node(NodeTag::kStreamReference, 2), 0, 0};
  const Token persistent = Tokens{node(NodeTag::kPersistent, 1), 0};
  const auto with_namespace = [](const Token& names) {
    return verdict_on_payload({node(NodeTag::kModule, 3), names, map(0), false});
  };
  EXPECT_EQ(with_namespace(earlier), "sound");
  EXPECT_EQ(with_namespace(persistent), "malformed");
}

TEST(Verify, AcceptsEachExtension) {
  EXPECT_EQ(verdict_on_payload(
                Tokens{array(5), module_of(0),
                       extension(ExtType::kInteger, Bytes{1, 0, 0, 0, 0, 0, 0, 0, 0}),
                       extension(ExtType::kComplex, Bytes(16)),
                       extension(ExtType::kText, Bytes{0xed, 0xa0, 0x80}),
                       singleton(wire::Singleton::kEllipsis)}),
            "sound");
}

TEST(Verify, RefusesUnknownExtensions) {
  EXPECT_EQ(verdict_on_payload({extension(ExtType{77}, {1})}), "unknown_tag");
  EXPECT_EQ(verdict_on_payload({extension(ExtType::kSingleton, Bytes{9})}),
            "unknown_tag");
}

TEST(Verify, RefusesUnknownTags) {
  EXPECT_EQ(verdict_on_payload({node(NodeTag{200}, 0)}), "unknown_tag");
}

TEST(Verify, RefusesATagThatStartsNoArray) {
  EXPECT_EQ(verdict_on_payload({array(2), kNil, extension(ExtType::kNode, Bytes{1})}),
            "malformed");
}

TEST(Verify, RefusesNodesOfTheWrongLength) {
  for (const envelope::Shape& shape : envelope::kShapes) {
    if (shape.max_count == envelope::kMany) continue;
    EXPECT_EQ(verdict_on_payload({node(shape.tag, shape.max_count + 1u),
                                  times(shape.max_count + 1u, kNil)}),
              "malformed")
        << shape.name;
  }
}

TEST(Verify, RefusesNodesWithValuesOfTheWrongType) {
  // No shape that asks for something asks for nothing but complex numbers.
  for (const envelope::Shape& shape : envelope::kShapes) {
    if (shape.parts[0].rule == envelope::Rule::kObject ||
        shape.max_count == envelope::kMany ||
        shape.parts[0].rule == envelope::Rule::kObjectOrEmpty) {
      continue;
    }
    EXPECT_EQ(verdict_on_payload(
                  {node(shape.tag, shape.max_count),
                   times(shape.max_count, extension(ExtType::kComplex, Bytes(16)))}),
              "malformed")
        << shape.name;
  }
}

TEST(Verify, RefusesIntegersThatNeedNoExtension) {
  const auto verdict_on_integer = [](const Bytes& bytes) {
    return verdict_on_payload({extension(ExtType::kInteger, bytes)});
  };
  EXPECT_EQ(verdict_on_integer({1}), "malformed");
  EXPECT_EQ(verdict_on_integer({0, 0xff, 0, 0, 0, 0, 0, 0, 0}), "malformed");
  EXPECT_EQ(verdict_on_integer({0, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0}), "malformed");
  EXPECT_EQ(verdict_on_integer({0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0}), "sound");
}

TEST(Verify, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(verdict_on_payload({"\xff"}), "malformed");
}

TEST(Verify, RefusesEmptyOutsideCells) {
  const Token empty = singleton(wire::Singleton::kEmpty);
  EXPECT_EQ(verdict_on_payload({empty}), "malformed");
  EXPECT_EQ(verdict_on_payload({node(NodeTag::kCell, 1), empty}), "sound");
}

TEST(Verify, RefusesReferencesThatMeanNothing) {
  const auto refer_to = [](std::uint64_t number) {
    return Tokens{array(2), array(0), reference(number)};
  };
  EXPECT_EQ(verdict_on_payload(refer_to(0), {1}), "sound");
  EXPECT_EQ(verdict_on_payload(refer_to(0)), "bad_reference");
  EXPECT_EQ(verdict_on_payload(refer_to(1), {1}), "bad_reference");
}

TEST(Verify, AcceptsACycle) {
  EXPECT_EQ(verdict_on_payload({array(1), reference(0)}, {0}), "sound");
}

TEST(Verify, RefusesReferencesToWhatHasNotComeYet) {
  EXPECT_EQ(verdict_on_payload({array(2), reference(0), array(0)}, {4}),
            "bad_reference");
}

TEST(Verify, RefusesPositionsThatNoObjectStartsAt) {
  const auto write = Tokens{array(2), "text", reference(0)};
  EXPECT_EQ(verdict_on_payload(write, {1}), "sound");
  EXPECT_EQ(verdict_on_payload(write, {2}), "bad_reference");
  EXPECT_EQ(verdict_on_payload(write, {1000}), "bad_reference");
  EXPECT_EQ(verdict_on_payload(write, {UINT64_MAX}), "bad_reference");
}

TEST(Verify, RefusesPositionsListedTwiceOrNeverUsed) {
  const auto write = Tokens{array(2), array(0), reference(0)};
  EXPECT_EQ(verdict_on_payload(write, {1, 1}), "bad_reference");
  EXPECT_EQ(verdict_on_payload(write, {1, 0}), "bad_reference");
}

TEST(Verify, RefusesReferencesNumberedOutOfOrder) {
  EXPECT_EQ(
      verdict_on_payload(
          Tokens{array(4), array(0), array(0), reference(1), reference(0)}, {1, 2}),
      "bad_reference");
}

TEST(Verify, RefusesAReferenceToALessThanFittingNode) {
  const Tokens payload = {array(2), array(0),     node(NodeTag::kFunction, 4),
                          0,        reference(0), array(0),
                          map(0)};
  EXPECT_EQ(verdict_on_payload(payload, {1}), "undeclared");  // The code comes first.
  Draft draft(payload);
  draft.code.push_back(BodyDraft().body());
  draft.shared = {1};
  EXPECT_EQ(verdict_on(draft).error().code, ErrorCode::kBadReference);
}

TEST(Verify, RefusesModulesThatTheManifestDoesNotList) {
  const auto use = [](std::uint64_t index) { return Tokens{module_of(index)}; };
  EXPECT_EQ(verdict_on_payload(use(0)), "sound");
  EXPECT_EQ(verdict_on_payload(use(1)), "undeclared");  // Needed when called only.
  EXPECT_EQ(verdict_on_payload(use(2)), "undeclared");
}

TEST(Verify, RefusesCodeThatIsNotThere) {
  EXPECT_EQ(verdict_on_payload({code_node(0)}), "undeclared");
}

TEST(Verify, RefusesFunctionFieldsTwiceOrUnknown) {
  const auto verdict_on_fields = [](std::uint64_t one, std::uint64_t other) {
    Draft draft({function_head(0, 2), one, kNil, other, kNil});
    draft.code.push_back(BodyDraft().body());
    return verdict_name(draft);
  };
  EXPECT_EQ(verdict_on_fields(2, 3), "sound");
  EXPECT_EQ(verdict_on_fields(2, 2), "malformed");
  EXPECT_EQ(verdict_on_fields(2, 13), "unknown_tag");
  EXPECT_EQ(verdict_on_fields(0, 2), "malformed");  // Globals are a map.
}

TEST(Verify, StopsAtTheLimitOfDepth) {
  Draft draft({times(5, array(1)), kNil});
  Limits limits;

  limits.max_depth = 5;
  EXPECT_TRUE(verdict_on(draft, limits));
  limits.max_depth = 4;
  EXPECT_EQ(verdict_on(draft, limits).error().code, ErrorCode::kLimitExceeded);
}

TEST(Verify, WalksAMillionNestedTuples) {
  Draft draft({times(1000000, node(NodeTag::kTuple, 1)), kNil});

  EXPECT_TRUE(verdict_on(draft));
}

TEST(Verify, AcceptsASoundBody) { EXPECT_EQ(verdict_on_body({}), "sound"); }

TEST(Verify, RefusesBodiesWhoseCountsDisagree) {
  BodyDraft kinds, parameters, positional, odd;
  kinds.local_kinds = {0x20, 0x20};
  parameters.argument_count = 2;
  positional.positional_only_count = 2;
  odd.instructions = {1, 2, 3};

  for (const BodyDraft& body : {kinds, parameters, positional, odd}) {
    EXPECT_EQ(verdict_on_body(body), "malformed");
  }
}

TEST(Verify, RefusesNestedCodeThatIsNotEarlier) {
  BodyDraft outer;
  outer.nested_hash = samples::hash_of(BodyDraft().body());
  Draft missing, later, earlier;
  missing.code = {outer.body()};
  later.code = {outer.body(), BodyDraft().body()};
  earlier.code = {BodyDraft().body(), outer.body()};
  for (Draft* draft : {&missing, &later, &earlier}) draft->payload.nil();

  EXPECT_EQ(verdict_on(missing).error().code, ErrorCode::kUndeclared);
  EXPECT_EQ(verdict_on(later).error().code, ErrorCode::kUndeclared);
  EXPECT_TRUE(verdict_on(earlier));
}

TEST(Verify, RefusesTheSameBodyTwiceAndOneThatIsNoCode) {
  Draft twice, no_code;
  twice.code = {BodyDraft().body(), BodyDraft().body()};
  no_code.code = {Bytes{0xc0}};
  for (Draft* draft : {&twice, &no_code}) {
    draft->payload.nil();

    EXPECT_EQ(verdict_on(*draft).error().code, ErrorCode::kMalformed);
  }
}

// Definitions of a payload, and which numbers references in them and behind them have.

// Two definitions, of which the second refers to the first, and a value that refers to
// both. `count`: how many shared positions the definitions are said to have.
std::string verdict_on_definitions(std::uint64_t count,
                                   std::vector<std::uint64_t> shared,
                                   std::uint64_t in_definition = 0,
                                   std::uint64_t in_value = 1) {
  return verdict_on_payload(
      {node(NodeTag::kDefinitions, 3), count, array(2), array(0), array(1),
       reference(in_definition), array(2), reference(0), reference(in_value)},
      std::move(shared));
}

TEST(VerifyDefinitions, ReferencesInDefinitionsAndInTheValueHaveNumbersOfTheirOwn) {
  constexpr std::uint64_t kFirst = 6, kSecond = 7;
  EXPECT_EQ(verdict_on_definitions(1, {kFirst, kFirst, kSecond}), "sound");
  EXPECT_EQ(verdict_on_definitions(1, {kFirst, kSecond, kFirst}), "sound");
  // A definition that nothing in the value refers to is one all the same.
  EXPECT_EQ(verdict_on_definitions(1, {kFirst, kSecond}, 0, 0), "sound");
  // More or fewer than there are, or than are referred to.
  EXPECT_EQ(verdict_on_definitions(0, {kFirst, kFirst, kSecond}), "bad_reference");
  EXPECT_EQ(verdict_on_definitions(2, {kFirst, kFirst, kSecond}), "bad_reference");
  EXPECT_EQ(verdict_on_definitions(9, {kFirst, kFirst, kSecond}), "bad_reference");
  EXPECT_EQ(verdict_on_definitions(1, {kFirst, kFirst, kSecond}, 1), "bad_reference");
  EXPECT_EQ(verdict_on_definitions(1, {kFirst, kFirst, kSecond}, 0, 2),
            "bad_reference");
  // A definition that refers to what is in the value, and one place with two numbers.
  EXPECT_EQ(verdict_on_definitions(1, {11, kFirst, kSecond}), "bad_reference");
  EXPECT_EQ(verdict_on_definitions(1, {kFirst, kFirst, kFirst}), "bad_reference");
  EXPECT_EQ(verdict_on_definitions(1, {kFirst, kSecond, kSecond}), "bad_reference");
}

TEST(VerifyDefinitions, DefinitionsStandAtTheStartAlone) {
  const Tokens none = {node(NodeTag::kDefinitions, 3), 0, array(0), kNil};
  EXPECT_EQ(verdict_on_payload(none), "sound");
  EXPECT_EQ(verdict_on_payload({array(1), none}), "malformed");
  EXPECT_EQ(verdict_on_payload({node(NodeTag::kDefinitions, 3), 0, array(0), none}),
            "malformed");
  EXPECT_EQ(verdict_on_payload({node(NodeTag::kDefinitions, 3), kNil, array(0), kNil}),
            "malformed");
}

// It names the culprit, and stands for nothing: not even where a definition is one that
// another payload had.
TEST(VerifyDefinitions, OneThatIsNamedByItsHashIsRefusedByName) {
  const Tokens hash = {node(NodeTag::kDefinitionHash, 1), binary(Bytes(16, 7))};
  EXPECT_EQ(
      verdict_on_payload({node(NodeTag::kDefinitions, 3), 0, array(1), hash, kNil}),
      "undeclared");
  EXPECT_EQ(verdict_on_payload(hash), "undeclared");
}

}  // namespace
}  // namespace waybill
