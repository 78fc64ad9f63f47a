#include <gtest/gtest.h>

#include "base/hash.h"
#include "format/samples.h"
#include "waybill/envelope.h"
#include "waybill/report.h"

namespace waybill {
namespace {

using samples::Bytes;

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

    const Result<Envelope> envelope = open(cut);

    ASSERT_FALSE(envelope) << size;
    EXPECT_EQ(envelope.error().code, ErrorCode::kTruncated) << size;
    EXPECT_LE(envelope.error().offset, size);
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
