// Definitions of a payload, and which numbers references in them and behind them have.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "format/samples.h"
#include "format/verdict.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using namespace samples;

// "sound", or the name of the error, for an envelope with this payload.
std::string verdict_on(const Tokens& payload, std::vector<std::uint64_t> shared = {}) {
  Draft draft(payload);
  draft.shared = std::move(shared);
  return told_of(draft);
}

// Two definitions, of which the second refers to the first, and a value that refers to
// both. `count`: how many shared positions the definitions are said to have.
std::string verdict_on_definitions(std::uint64_t count,
                                   std::vector<std::uint64_t> shared,
                                   std::uint64_t in_definition = 0,
                                   std::uint64_t in_value = 1) {
  return verdict_on(
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
  EXPECT_EQ(verdict_on(none), "sound");
  EXPECT_EQ(verdict_on({array(1), none}), "malformed");
  EXPECT_EQ(verdict_on({node(NodeTag::kDefinitions, 3), 0, array(0), none}),
            "malformed");
  EXPECT_EQ(verdict_on({node(NodeTag::kDefinitions, 3), kNil, array(0), kNil}),
            "malformed");
}

// It names the culprit, and stands for nothing: not even where a definition is one that
// another payload had.
TEST(VerifyDefinitions, OneThatIsNamedByItsHashIsRefusedByName) {
  const Tokens hash = {node(NodeTag::kDefinitionHash, 1), binary(Bytes(16, 7))};
  EXPECT_EQ(verdict_on({node(NodeTag::kDefinitions, 3), 0, array(1), hash, kNil}),
            "undeclared");
  EXPECT_EQ(verdict_on(hash), "undeclared");
}

}  // namespace
}  // namespace waybill
