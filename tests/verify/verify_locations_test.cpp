// What verify() says of the source locations of code: files, first lines and line
// tables.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "format/samples.h"
#include "format/verdict.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using namespace samples;

// `file`: that of an import in the manifest; empty: there is none.
std::string verdict_on_locations(const Tokens& locations,
                                 const std::string& file = "") {
  Draft draft({array(2), code_node(0), code_node(0)});
  if (!file.empty()) {
    draft.manifest.imports = {{"json", ImportTime::kLoad, "json", "f", file, 3}};
  }
  draft.code.push_back(BodyDraft().body());
  put(draft.source_locations, locations);
  return told_of(draft);
}

TEST(VerifyLocations, WantsOneForEachUseOfCode) {
  EXPECT_EQ(verdict_on_locations({}),
            "sound");  // Debug information may be left out.
  EXPECT_EQ(verdict_on_locations({array(2), location("a.py"), location("a.py")}),
            "sound");
  EXPECT_EQ(verdict_on_locations({array(1), location("a.py")}), "malformed");
}

TEST(VerifyLocations, LetsOneRepeatAnEarlierOne) {
  const auto repeat = [](std::uint64_t number) {
    return Tokens{array(2), location("a.py"), number};
  };
  EXPECT_EQ(verdict_on_locations(repeat(0)), "sound");
  EXPECT_EQ(verdict_on_locations(repeat(1)), "malformed");
}

TEST(VerifyLocations, LetsANestedOneRepeatAnEarlierOne) {
  const auto verdict_on_nested = [](std::uint64_t number) {
    BodyDraft outer;
    Draft draft({array(2), code_node(0), code_node(1)});
    draft.code.push_back(BodyDraft().body());
    outer.name = "outer";
    outer.nested_hash = hash_of(draft.code[0]);
    draft.code.push_back(outer.body());
    put(draft.source_locations,
        {array(2), location("a.py"), location("a.py", 1, {}, 1), number});
    return told_of(draft);
  };

  EXPECT_EQ(verdict_on_nested(0), "sound");
  EXPECT_EQ(verdict_on_nested(1), "malformed");  // The one around it.
}

TEST(VerifyLocations, LetsOneNameTheFileThatWasNamedLast) {
  const Tokens same = {array(4), wire::kSameFile, 1, binary({}), array(0)};
  EXPECT_EQ(verdict_on_locations({array(2), location("a.py"), same}), "sound");
  const Tokens first = {array(2), same, location("a.py")};
  EXPECT_EQ(verdict_on_locations(first), "malformed");  // Nothing is named.
  EXPECT_EQ(verdict_on_locations(first, "task.py"), "sound");
}

TEST(VerifyLocations, WantsAFirstLineThatPythonTakes) {
  const auto starts_at = [](std::int64_t line) {
    return verdict_on_locations(
        {array(2), location("a.py"), location("task.py", line)});
  };
  EXPECT_EQ(starts_at(0), "sound");
  EXPECT_EQ(starts_at(INT32_MAX), "sound");
  EXPECT_EQ(starts_at(-1), "malformed");
  EXPECT_EQ(starts_at(std::int64_t{INT32_MAX} + 1), "malformed");
}

TEST(VerifyLocations, WantsAFileForTheOutermostCode) {
  EXPECT_EQ(verdict_on_locations({array(2), location("a.py"), location(nullptr)}),
            "malformed");
}

}  // namespace
}  // namespace waybill
