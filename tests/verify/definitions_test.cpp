// Definitions of a payload, and which numbers references in them and behind them have.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "format/samples.h"
#include "format/verdict.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using samples::Draft;
using wire::ExtType;
using wire::NodeTag;
using wire::Writer;

// "sound", or the name of the error, for an envelope with this payload.
std::string verdict_on(const std::function<void(Writer&)>& write,
                       std::vector<std::uint64_t> shared = {}) {
  Draft draft;
  draft.shared = std::move(shared);
  write(draft.payload);
  return samples::told_of(draft);
}

// Two definitions, of which the second refers to the first, and a value that refers to
// both. `count`: how many shared positions the definitions are said to have.
std::string verdict_on_definitions(std::uint64_t count,
                                   std::vector<std::uint64_t> shared,
                                   std::uint64_t in_definition = 0,
                                   std::uint64_t in_value = 1) {
  return verdict_on(
      [&](Writer& out) {
        out.node(NodeTag::kDefinitions, 3);
        out.unsigned_integer(count);
        out.array(2);
        out.array(0);
        out.array(1);
        out.index(ExtType::kReference, in_definition);
        out.array(2);
        out.index(ExtType::kReference, 0);
        out.index(ExtType::kReference, in_value);
      },
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
  const auto write = [](Writer& out) {
    out.node(NodeTag::kDefinitions, 3);
    out.unsigned_integer(0);
    out.array(0);
    out.nil();
  };
  EXPECT_EQ(verdict_on(write), "sound");
  EXPECT_EQ(verdict_on([&](Writer& out) {
              out.array(1);
              write(out);
            }),
            "malformed");
  EXPECT_EQ(verdict_on([&](Writer& out) {
              out.node(NodeTag::kDefinitions, 3);
              out.unsigned_integer(0);
              out.array(0);
              write(out);
            }),
            "malformed");
  EXPECT_EQ(verdict_on([](Writer& out) {
              out.node(NodeTag::kDefinitions, 3);
              out.nil();
              out.array(0);
              out.nil();
            }),
            "malformed");
}

// It names the culprit, and stands for nothing: not even where a definition is one that
// another payload had.
TEST(VerifyDefinitions, OneThatIsNamedByItsHashIsRefusedByName) {
  const auto write = [](Writer& out) {
    out.node(NodeTag::kDefinitionHash, 1);
    out.binary(std::vector<std::uint8_t>(16, 7));
  };
  EXPECT_EQ(verdict_on([&](Writer& out) {
              out.node(NodeTag::kDefinitions, 3);
              out.unsigned_integer(0);
              out.array(1);
              write(out);
              out.nil();
            }),
            "undeclared");
  EXPECT_EQ(verdict_on(write), "undeclared");
}

}  // namespace
}  // namespace waybill
