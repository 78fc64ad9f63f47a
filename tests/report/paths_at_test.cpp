// The paths of values by their offsets: src/report/paths.cpp.

#include "report/paths.h"

#include <gtest/gtest.h>

#include "format/payload_cursor.h"
#include "format/samples.h"

namespace waybill {
namespace {

using namespace samples;

// The path of each value of the payload, in its order.
std::vector<std::string> paths_of(const Bytes& bytes) {
  const Envelope envelope = *open(bytes);
  const envelope::ValueNames names = envelope::names_of(envelope);
  envelope::PayloadCursor<> cursor(
      wire::Reader(envelope.payload.bytes, Limits{}, envelope.payload.offset));
  std::vector<std::size_t> offsets;
  while (cursor.next()) {
    if (cursor.event() != envelope::CursorEvent::kClose)
      offsets.push_back(cursor.token().offset);
  }
  return envelope::paths_at(envelope, names, offsets);
}

std::vector<std::string> paths_in(const Tokens& payload) {
  return paths_of(Draft(payload).sealed());
}

TEST(PathsAt, AreExpressions) {
  const auto paths = paths_in({map(1), "a", node(NodeTag::kTuple, 2), 1, array(1), 2});

  EXPECT_EQ(paths,
            (std::vector<std::string>{"obj", "obj<key>", "obj['a']", "obj['a'][0]",
                                      "obj['a'][1]", "obj['a'][1][0]"}));
}

TEST(PathsAt, OfElementsOfSetsAreMarkers) {
  const auto paths = paths_in({node(NodeTag::kSet, 2), 1, 2});

  EXPECT_EQ(paths,
            (std::vector<std::string>{"obj", "obj<element 0>", "obj<element 1>"}));
}

TEST(PathsAt, ShowTheLastOfManySteps) {
  const auto paths = paths_in({times(40, array(1)), 1});

  EXPECT_TRUE(paths[31].starts_with("obj[0]"));
  EXPECT_TRUE(paths[32].starts_with("…[0]"));
}

TEST(PathsAt, WhereNoValueBeginsAreEmpty) {
  const Bytes bytes = data_envelope();
  const Envelope envelope = *open(bytes);
  const envelope::ValueNames names = envelope::names_of(envelope);
  const std::size_t nowhere[] = {0, bytes.size()};

  const auto paths = envelope::paths_at(envelope, names, nowhere);

  EXPECT_EQ(paths, (std::vector<std::string>{"", ""}));
}

TEST(PathsAt, OfAFunctionAreItsAttributes) {
  const auto paths = paths_of(function_envelope());

  EXPECT_EQ(paths[0], "obj");
  EXPECT_EQ(paths[1], "obj[0]");
  EXPECT_EQ(paths[3], "obj[0].__globals__");
  EXPECT_EQ(paths[4], "obj[0].__globals__['__name__']");
}

}  // namespace
}  // namespace waybill
