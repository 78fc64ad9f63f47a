// Plain envelopes are told apart from all others, and only sound ones count.

#include "format/frame.h"

#include <gtest/gtest.h>

#include "format/samples.h"
#include "waybill/envelope.h"

namespace waybill {
namespace {

using samples::Bytes;
using samples::Draft;

Bytes plain() {
  Draft draft({array(2), 1, "two"});
  return draft.sealed();
}

std::size_t found(const Bytes& bytes, const Limits& limits = {}) {
  std::vector<std::uint64_t> shared;
  return envelope::find_plain_payload(bytes, limits, shared);
}

TEST(Plain, FindsThePayloadWhereOpenFindsIt) {
  const Bytes bytes = plain();

  const Result<Envelope> envelope = open(bytes);

  ASSERT_TRUE(envelope);
  EXPECT_EQ(found(bytes), envelope->payload.offset);
  EXPECT_TRUE(envelope::has_plain_end(bytes, envelope->debug_info.offset));
}

TEST(Plain, ReadsSharedPositions) {
  Draft draft;
  draft.shared = {1, 300};
  draft.payload.nil();
  std::vector<std::uint64_t> shared;

  EXPECT_NE(envelope::find_plain_payload(draft.sealed(), {}, shared), 0u);

  EXPECT_EQ(shared, (std::vector<std::uint64_t>{1, 300}));
}

TEST(Plain, LeavesEnvelopesWithCodeOrImportsAlone) {
  EXPECT_EQ(found(samples::function_envelope()), 0u);
}

TEST(Plain, LeavesInputBeyondALimitAlone) {
  const Bytes bytes = plain();
  Limits limits;
  limits.max_bytes = bytes.size() - 1;
  EXPECT_EQ(found(bytes, limits), 0u);
  limits = {};
  limits.max_values = bytes.size() - 1;
  EXPECT_EQ(found(bytes, limits), 0u);
}

TEST(Plain, NoPrefixIsPlainAndSound) {
  const Bytes bytes = plain();
  const std::size_t end = open(bytes)->debug_info.offset;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const BytesView cut = BytesView(bytes).first(size);
    std::vector<std::uint64_t> shared;
    const std::size_t start = envelope::find_plain_payload(cut, {}, shared);
    EXPECT_TRUE(start == 0 || start == open(bytes)->payload.offset);
    if (size < end) continue;
    EXPECT_FALSE(envelope::has_plain_end(cut, end)) << size;
  }
}

TEST(Plain, NoChangedByteIsSound) {
  const Bytes bytes = plain();
  const std::size_t end = open(bytes)->debug_info.offset;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes changed = bytes;
    changed[i] = static_cast<std::uint8_t>(~changed[i]);
    EXPECT_FALSE(envelope::has_plain_end(changed, end)) << i;
  }
}

TEST(Plain, NothingMayFollow) {
  Bytes bytes = plain();
  const std::size_t end = open(bytes)->debug_info.offset;
  bytes.push_back(0);
  EXPECT_FALSE(envelope::has_plain_end(bytes, end));
}

TEST(Plain, MayBeSigned) {
  Bytes bytes = plain();
  const std::size_t end = open(bytes)->debug_info.offset;
  bytes.pop_back();
  const std::uint8_t signature[] = {0xc4, 2, 1, 2};
  bytes.insert(bytes.end(), std::begin(signature), std::end(signature));
  EXPECT_TRUE(envelope::has_plain_end(bytes, end));
  EXPECT_TRUE(open_whole(bytes));
}

}  // namespace
}  // namespace waybill
