// Short calls are passed at once. The oracle is the walk over each of their values,
// which the checker takes where it measures them.

#include <gtest/gtest.h>

#include <algorithm>

#include "format/samples.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using namespace samples;

struct CallPayload {
  Bytes bytes;
  std::vector<std::uint64_t> shared;
};

void write_call(Writer& out, std::uint64_t callable, std::uint64_t argument) {
  put(out,
      {node(NodeTag::kObject, 5), reference(callable), array(4), reference(argument),
       1000, "text \xc3\xa4", binary(Bytes{1, 2}), object_end()});
}

// [[], {}, two calls of the list with the map]
CallPayload two_calls() {
  Writer out;
  CallPayload payload;
  out.array(4);
  payload.shared = {out.size(), out.size() + 1};
  put(out, {array(0), map(0)});
  write_call(out, 0, 1);
  write_call(out, 0, 1);
  payload.bytes = out.take();
  return payload;
}

std::string checked(const CallPayload& payload, Limits limits) {
  Draft draft;
  draft.payload.append(payload.bytes);
  draft.shared = payload.shared;
  const Bytes bytes = draft.sealed();
  const auto envelope = open_whole(bytes, Limits{});
  if (!envelope) return to_string(envelope.error());
  const auto verdict = verify(*envelope, limits);
  return verdict ? "sound" : to_string(verdict.error());
}

std::string checked_value_by_value(const CallPayload& payload, Limits limits) {
  limits.max_text = Limits::kNone - 1;
  return checked(payload, limits);
}

TEST(ShortCall, IsSound) { EXPECT_EQ(checked(two_calls(), {}), "sound"); }

TEST(ShortCall, OfAnyBytesIsCheckedAsValueByValue) {
  const CallPayload whole = two_calls();
  for (std::size_t at = 0; at < whole.bytes.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      CallPayload payload = whole;
      payload.bytes[at] = static_cast<std::uint8_t>(byte);

      ASSERT_EQ(checked(payload, {}), checked_value_by_value(payload, {}))
          << at << ' ' << byte;
    }
  }
}

TEST(ShortCall, ThatIsCutOffIsCheckedAsValueByValue) {
  CallPayload payload = two_calls();
  while (!payload.bytes.empty()) {
    payload.bytes.pop_back();

    ASSERT_EQ(checked(payload, {}), checked_value_by_value(payload, {}));
  }
}

TEST(ShortCall, WithSharedPositionsInItIsCheckedAsValueByValue) {
  const CallPayload whole = two_calls();
  for (std::size_t at = 0; at <= whole.bytes.size(); ++at) {
    for (std::size_t number = 0; number < 3; ++number) {
      CallPayload payload = whole;
      if (number == payload.shared.size()) payload.shared.push_back(0);
      payload.shared[number] = at;

      ASSERT_EQ(checked(payload, {}), checked_value_by_value(payload, {})) << at;
    }
  }
}

TEST(ShortCall, CountsAgainstTheSameCeilings) {
  for (std::size_t most = 0; most < 40; ++most) {
    const Limits values{.max_values = most}, depth{.max_depth = most};

    EXPECT_EQ(checked(two_calls(), values), checked_value_by_value(two_calls(), values))
        << most;
    EXPECT_EQ(checked(two_calls(), depth), checked_value_by_value(two_calls(), depth))
        << most;
  }
}

}  // namespace
}  // namespace waybill
