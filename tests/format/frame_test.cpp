// The payload is located by its length, and every damage is an error.

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

// The offset of the length of the payload, which takes one byte.
std::size_t length_at(const Bytes& bytes) { return open(bytes)->payload.offset - 1; }

TEST(PayloadLength, LocatesAPayloadThatIsNotRead) {
  Draft draft;
  draft.payload.append(Bytes{0xc1, 0x93, 0xc1});  // No msgpack.
  const Bytes bytes = draft.sealed();

  const Result<Envelope> envelope = open_whole(bytes);

  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->payload.bytes.size(), 3u);
  EXPECT_THAT(verify(*envelope),
              Fails(ErrorCode::kMalformed, envelope->payload.offset));
}

TEST(PayloadLength, ThatIsNotTheLengthOfOneValueIsRefused) {
  const Bytes sealed = data_envelope();
  const std::size_t at = length_at(sealed);
  for (int length = 0; length < 0x80; ++length) {
    if (length == sealed[at]) continue;
    Bytes bytes = sealed;
    bytes[at] = static_cast<std::uint8_t>(length);
    fit_digest(bytes);

    const Result<Envelope> envelope = open_whole(bytes);

    EXPECT_FALSE(envelope && verify(*envelope)) << length;
  }
}

TEST(PayloadLength, BeyondTheInputIsTruncated) {
  Bytes bytes = data_envelope();
  const std::size_t at = length_at(bytes);
  bytes[at] = 0x7f;
  fit_digest(bytes);

  EXPECT_THAT(open(bytes), Fails(ErrorCode::kTruncated, at + 1));
}

TEST(PayloadLength, ShouldBeAnInteger) {
  Bytes bytes = data_envelope();
  const std::size_t at = length_at(bytes);
  bytes[at] = 0xff;
  fit_digest(bytes);

  EXPECT_THAT(open(bytes), Fails(ErrorCode::kMalformed, at));
}

bool is_plain(const Bytes& bytes, const Limits& limits = {}) {
  std::vector<std::uint64_t> shared;
  Section payload;
  return envelope::open_plain(bytes, limits, shared, payload);
}

Bytes plain() { return Draft({array(2), 1, "two"}).sealed(); }

TEST(Plain, HasThePayloadThatOpenFinds) {
  Draft draft({array(2), 1, "two"});
  draft.shared = {1, 300};
  const Bytes bytes = draft.sealed();
  const Result<Envelope> envelope = open(bytes);
  std::vector<std::uint64_t> shared;
  Section payload;

  ASSERT_TRUE(envelope::open_plain(bytes, {}, shared, payload));

  EXPECT_EQ(shared, envelope->shared);
  EXPECT_EQ(payload.offset, envelope->payload.offset);
  EXPECT_EQ(payload.bytes.size(), envelope->payload.bytes.size());
}

TEST(Plain, HasNoCodeImportsAndBuffers) {
  Draft draft({array(2), 1, "two"});
  draft.manifest.imports = {{"json", ImportTime::kLoad, "", "", "", 0}};
  EXPECT_FALSE(is_plain(draft.sealed()));
  EXPECT_FALSE(is_plain(function_envelope()));
  EXPECT_FALSE(is_plain(buffers_envelope()));
}

TEST(Plain, IsFarFromTheLimitsOfSize) {
  const Bytes bytes = plain();
  for (std::size_t Limits::* limit : {&Limits::max_bytes, &Limits::max_values}) {
    Limits near;
    near.*limit = bytes.size();
    EXPECT_TRUE(is_plain(bytes, near));
    near.*limit = bytes.size() - 1;
    EXPECT_FALSE(is_plain(bytes, near));
  }
}

TEST(Plain, IsWholeAndUnaltered) {
  const Bytes whole = plain();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes bytes = whole;
    bytes[at] ^= 0x11;
    EXPECT_FALSE(is_plain(bytes)) << at;
    bytes = whole;
    bytes.resize(at);
    EXPECT_FALSE(is_plain(bytes)) << at;
    bytes = whole;
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 0xc0);
    EXPECT_FALSE(is_plain(bytes)) << at;
  }
}

TEST(Plain, MayBeSigned) {
  Bytes bytes = plain();
  bytes.pop_back();
  const std::uint8_t signature[] = {0xc4, 2, 1, 2};
  bytes.insert(bytes.end(), std::begin(signature), std::end(signature));

  EXPECT_TRUE(open_whole(bytes));
  EXPECT_TRUE(is_plain(bytes));
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
