// What is opened without measuring its payload is what open_whole() opens, once
// verify() has passed it.

#include "format/frame.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/fails.h"
#include "base/hash.h"
#include "format/samples.h"
#include "waybill/envelope.h"
#include "waybill/report.h"

namespace waybill {
namespace {

using namespace samples;

// [json.decoder.JSONDecoder, a list, the list again]
Draft& fill(Draft& draft) {
  draft.manifest.imports = {
      {"json.decoder", ImportTime::kLoad, "json.decoder.JSONDecoder", "", "", 0}};
  put(draft.payload,
      {array(3), global("JSONDecoder", 0), draft.here(), array(1), 0.5, reference(0)});
  return draft;
}

Bytes sealed_sample() {
  Draft draft;
  return fill(draft).sealed();
}

std::optional<Envelope> sound(const Bytes& bytes, const Limits& limits = {}) {
  std::optional<Envelope> envelope = envelope::open_trusting_verify(bytes, limits);
  if (envelope && !verify(*envelope, limits)) envelope.reset();
  return envelope;
}

TEST(Unmeasured, HasTheSectionsThatOpenFinds) {
  const Bytes bytes = sealed_sample();
  const Result<Envelope> expected = open_whole(bytes);
  const std::optional<Envelope> found = sound(bytes);

  ASSERT_TRUE(expected);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->format_version, expected->format_version);
  EXPECT_EQ(found->python, expected->python);
  ASSERT_EQ(found->manifest.imports.size(), 1u);
  EXPECT_EQ(found->manifest.imports[0].module, "json.decoder");
  EXPECT_TRUE(found->code.empty());
  EXPECT_EQ(found->shared, expected->shared);
  EXPECT_EQ(found->payload.offset, expected->payload.offset);
  EXPECT_EQ(found->payload.bytes.size(), expected->payload.bytes.size());
  EXPECT_EQ(found->debug_info.offset, expected->debug_info.offset);
  EXPECT_EQ(found->debug_info.bytes.size(), expected->debug_info.bytes.size());
  EXPECT_EQ(found->digest, expected->digest);
  EXPECT_TRUE(found->signature.empty());
  EXPECT_EQ(found->bytes.data(), expected->bytes.data());
  EXPECT_EQ(found->size, expected->size);
}

TEST(Unmeasured, IsSoundAlsoForThoseWhoMeasure) {
  const Bytes whole = sealed_sample();
  std::size_t accepted = 0;

  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      Bytes bytes = whole;
      bytes[at] = static_cast<std::uint8_t>(value);
      fit_digest(bytes);
      if (!sound(bytes)) continue;
      ++accepted;
      const Result<Envelope> envelope = open_whole(bytes);
      ASSERT_TRUE(envelope && verify(*envelope)) << "byte " << at << " is " << value;
    }
  }

  EXPECT_GT(accepted, whole.size());
}

TEST(Unmeasured, IsRefusedWithAnyByteAlteredCutOffOrAdded) {
  const Bytes whole = sealed_sample();

  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes bytes = whole;
    bytes[at] ^= 0x11;
    EXPECT_FALSE(sound(bytes)) << at;
    bytes = whole;
    bytes.resize(at);
    EXPECT_FALSE(sound(bytes)) << at;
    bytes = whole;
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 0xc0);
    EXPECT_FALSE(sound(bytes)) << at;
  }
}

TEST(Unmeasured, HasNoCode) {
  EXPECT_FALSE(envelope::open_trusting_verify(function_envelope(), {}));
}

TEST(Unmeasured, IsFarFromAllLimits) {
  const Bytes bytes = sealed_sample();
  Limits limits;
  for (std::size_t Limits::* limit :
       {&Limits::max_bytes, &Limits::max_values, &Limits::max_depth}) {
    Limits near = limits;
    near.*limit = bytes.size();
    EXPECT_TRUE(sound(bytes, near));
    near.*limit = bytes.size() - 1;
    EXPECT_FALSE(sound(bytes, near));
  }
}

// Plain envelopes are told apart from all others, and only sound ones count.

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
  Limits limits = {.max_bytes = bytes.size() - 1};
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

// Repairs the digest, so that what it hides from the sender's accidents is reached.
void repair_digest(Bytes& bytes, std::size_t head) {
  const std::size_t digest = head - 11;  // bin 8, eight bytes, nil.
  const auto fresh = base::digest_of(BytesView(bytes).first(digest));
  std::copy(fresh.begin(), fresh.end(), bytes.begin() + digest + 2);
}

class Corruption : public testing::TestWithParam<Bytes> {};

TEST_P(Corruption, EveryCutIsAnErrorInsideTheInput) {
  const Bytes& bytes = GetParam();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + size);

    EXPECT_THAT(open(cut), Fails(ErrorCode::kTruncated, testing::Le(size))) << size;
  }
}

TEST_P(Corruption, EveryFlippedBitIsAnErrorInsideTheInput) {
  for (std::size_t i = 0; i < GetParam().size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bytes = GetParam();
      bytes[i] ^= static_cast<std::uint8_t>(1 << bit);

      const Result<Envelope> envelope = open_whole(bytes);

      ASSERT_FALSE(envelope) << i << " bit " << bit;
      EXPECT_LE(envelope.error().offset, bytes.size());
    }
  }
}

TEST_P(Corruption, EveryByteMayBeAnythingWithoutACrash) {
  const std::size_t head = open(GetParam())->bytes.size();
  for (std::size_t i = 0; i < GetParam().size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      Bytes bytes = GetParam();
      bytes[i] = static_cast<std::uint8_t>(byte);
      if (i + 11 < head) repair_digest(bytes, head);
      const Result<Envelope> envelope = open(bytes);
      if (!envelope) {
        EXPECT_LE(envelope.error().offset, bytes.size());
        continue;
      }

      const Result<VerifiedEnvelope> verdict = verify(*envelope);

      if (!verdict) {
        EXPECT_LE(verdict.error().offset, bytes.size());
      }
      if (byte % 16 == 5) {
        EXPECT_FALSE(report_json(*envelope).empty());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, Corruption,
                         testing::Values(samples::data_envelope(),
                                         samples::function_envelope(),
                                         samples::buffers_envelope()));

}  // namespace
}  // namespace waybill
