// What verify() says of the places of code: files, first lines and line tables.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "format/samples.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using samples::BodyDraft;
using samples::Bytes;
using samples::Draft;
using wire::NodeTag;
using wire::Writer;

// `file`: that of an import in the manifest; empty: there is none.
std::string verdict_on_places(const std::function<void(Writer&)>& write,
                              const std::string& file = "") {
  Draft draft;
  if (!file.empty()) {
    draft.manifest.imports = {{"json", ImportTime::kLoad, "json", "f", file, 3}};
  }
  draft.code.push_back(BodyDraft().body());
  draft.payload.array(2);
  for (int i = 0; i < 2; ++i) {
    draft.payload.node(NodeTag::kCode, 1);
    draft.payload.integer(0);
  }
  write(draft.places);
  const Bytes bytes = draft.sealed();
  const Result<Envelope> envelope = open(bytes);
  if (!envelope) return "not opened";
  const Result<VerifiedEnvelope> verdict = verify(*envelope);
  return verdict ? "sound" : std::string(name_of(verdict.error().code));
}

void write_place(Writer& out) {
  out.array(4);
  out.text("a.py");
  out.integer(1);
  out.binary({});
  out.array(0);
}

TEST(VerifyPlaces, WantsOnePlaceForEachUseOfCode) {
  EXPECT_EQ(verdict_on_places([](Writer&) {}), "sound");  // Notes may be left out.
  EXPECT_EQ(verdict_on_places([](Writer& out) {
              out.array(2);
              write_place(out);
              write_place(out);
            }),
            "sound");
  EXPECT_EQ(verdict_on_places([](Writer& out) {
              out.array(1);
              write_place(out);
            }),
            "malformed");
}

TEST(VerifyPlaces, LetsAPlaceRepeatAnEarlierOne) {
  const auto repeat = [](std::uint64_t number) {
    return [number](Writer& out) {
      out.array(2);
      write_place(out);
      out.unsigned_integer(number);
    };
  };
  EXPECT_EQ(verdict_on_places(repeat(0)), "sound");
  EXPECT_EQ(verdict_on_places(repeat(1)), "malformed");
}

TEST(VerifyPlaces, LetsAPlaceNameTheFileThatWasNamedLast) {
  const auto write_places = [](bool is_first) {
    return [is_first](Writer& out) {
      out.array(2);
      if (!is_first) write_place(out);
      out.array(4);
      out.unsigned_integer(wire::kSameFile);
      out.integer(1);
      out.binary({});
      out.array(0);
      if (is_first) write_place(out);
    };
  };
  EXPECT_EQ(verdict_on_places(write_places(false)), "sound");
  EXPECT_EQ(verdict_on_places(write_places(true)), "malformed");  // Nothing is named.
  EXPECT_EQ(verdict_on_places(write_places(true), "task.py"), "sound");
}

TEST(VerifyPlaces, WantsAFirstLineThatPythonTakes) {
  const auto starts_at = [](std::int64_t line) {
    return verdict_on_places([line](Writer& out) {
      out.array(2);
      write_place(out);
      out.array(4);
      out.text("task.py");
      out.integer(line);
      out.binary({});
      out.array(0);
    });
  };
  EXPECT_EQ(starts_at(0), "sound");
  EXPECT_EQ(starts_at(INT32_MAX), "sound");
  EXPECT_EQ(starts_at(-1), "malformed");
  EXPECT_EQ(starts_at(std::int64_t{INT32_MAX} + 1), "malformed");
}

TEST(VerifyPlaces, WantsAFileForTheOutermostCode) {
  EXPECT_EQ(verdict_on_places([](Writer& out) {
              out.array(2);
              write_place(out);
              out.array(4);
              out.nil();
              out.integer(1);
              out.binary({});
              out.array(0);
            }),
            "malformed");
}

}  // namespace
}  // namespace waybill
