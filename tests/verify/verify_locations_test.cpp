// What verify() says of the source locations of code: files, first lines and line
// tables.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "format/samples.h"
#include "format/verdict.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using samples::BodyDraft;
using samples::Bytes;
using samples::Draft;
using samples::told_of;
using samples::write_code;
using samples::write_location;
using wire::NodeTag;
using wire::Writer;

// `file`: that of an import in the manifest; empty: there is none.
std::string verdict_on_locations(const std::function<void(Writer&)>& write,
                                 const std::string& file = "") {
  Draft draft;
  if (!file.empty()) {
    draft.manifest.imports = {{"json", ImportTime::kLoad, "json", "f", file, 3}};
  }
  draft.code.push_back(BodyDraft().body());
  draft.payload.array(2);
  for (int i = 0; i < 2; ++i) {
    write_code(draft.payload, 0);
  }
  write(draft.source_locations);
  return told_of(draft);
}

TEST(VerifyLocations, WantsOneForEachUseOfCode) {
  EXPECT_EQ(verdict_on_locations([](Writer&) {}),
            "sound");  // Debug information may be left out.
  EXPECT_EQ(verdict_on_locations([](Writer& out) {
              out.array(2);
              write_location(out, "a.py");
              write_location(out, "a.py");
            }),
            "sound");
  EXPECT_EQ(verdict_on_locations([](Writer& out) {
              out.array(1);
              write_location(out, "a.py");
            }),
            "malformed");
}

TEST(VerifyLocations, LetsOneRepeatAnEarlierOne) {
  const auto repeat = [](std::uint64_t number) {
    return [number](Writer& out) {
      out.array(2);
      write_location(out, "a.py");
      out.unsigned_integer(number);
    };
  };
  EXPECT_EQ(verdict_on_locations(repeat(0)), "sound");
  EXPECT_EQ(verdict_on_locations(repeat(1)), "malformed");
}

TEST(VerifyLocations, LetsANestedOneRepeatAnEarlierOne) {
  const auto verdict_on_nested = [](std::uint64_t number) {
    BodyDraft outer;
    Draft draft;
    draft.code.push_back(BodyDraft().body());
    outer.name = "outer";
    outer.nested_hash = samples::hash_of(draft.code[0]);
    draft.code.push_back(outer.body());
    draft.payload.array(2);
    draft.source_locations.array(2);
    for (const std::uint64_t body : {0, 1}) {
      write_code(draft.payload, body);
    }
    write_location(draft.source_locations, "a.py");
    write_location(draft.source_locations, "a.py", 1, {}, 1);
    draft.source_locations.unsigned_integer(number);
    return told_of(draft);
  };

  EXPECT_EQ(verdict_on_nested(0), "sound");
  EXPECT_EQ(verdict_on_nested(1), "malformed");  // The one around it.
}

TEST(VerifyLocations, LetsOneNameTheFileThatWasNamedLast) {
  const auto write_locations = [](bool is_first) {
    return [is_first](Writer& out) {
      out.array(2);
      if (!is_first) write_location(out, "a.py");
      out.array(4);
      out.unsigned_integer(wire::kSameFile);
      out.integer(1);
      out.binary({});
      out.array(0);
      if (is_first) write_location(out, "a.py");
    };
  };
  EXPECT_EQ(verdict_on_locations(write_locations(false)), "sound");
  EXPECT_EQ(verdict_on_locations(write_locations(true)),
            "malformed");  // Nothing is named.
  EXPECT_EQ(verdict_on_locations(write_locations(true), "task.py"), "sound");
}

TEST(VerifyLocations, WantsAFirstLineThatPythonTakes) {
  const auto starts_at = [](std::int64_t line) {
    return verdict_on_locations([line](Writer& out) {
      out.array(2);
      write_location(out, "a.py");
      write_location(out, "task.py", line);
    });
  };
  EXPECT_EQ(starts_at(0), "sound");
  EXPECT_EQ(starts_at(INT32_MAX), "sound");
  EXPECT_EQ(starts_at(-1), "malformed");
  EXPECT_EQ(starts_at(std::int64_t{INT32_MAX} + 1), "malformed");
}

TEST(VerifyLocations, WantsAFileForTheOutermostCode) {
  EXPECT_EQ(verdict_on_locations([](Writer& out) {
              out.array(2);
              write_location(out, "a.py");
              write_location(out, nullptr);
            }),
            "malformed");
}

}  // namespace
}  // namespace waybill
