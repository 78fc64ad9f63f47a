// Signatures of envelopes with buffers behind their heads.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"
#include "format/samples.h"
#include "trust/key_samples.h"
#include "waybill/envelope.h"
#include "waybill/gate.h"
#include "waybill/signature.h"

namespace waybill {
namespace {

using samples::Bytes;

class SignedBuffers : public testing::TestWithParam<SignatureAlgorithm> {
 protected:
  SigningKey key() const {
    return GetParam() == SignatureAlgorithm::kMac ? samples::mac_key()
                                                  : samples::sender_key();
  }
  SigningKey other_key() const {
    return GetParam() == SignatureAlgorithm::kMac ? samples::mac_key(2)
                                                  : samples::stranger_key();
  }
};

TEST_P(SignedBuffers, AreAcceptedByTheSignatureOfTheirHead) {
  const SigningKey signer = key();
  const Bytes bytes = samples::buffers_envelope(&signer);
  const BytesView head = open(bytes)->bytes;

  EXPECT_TRUE(samples::ring_of(signer).check(bytes));
  EXPECT_TRUE(samples::ring_of(signer).check(head));
  const Result<void> verdict = samples::ring_of(other_key()).check(bytes);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().code, ErrorCode::kBadSignature);
  EXPECT_LT(verdict.error().offset, head.size());
  EXPECT_NE(verdict.error().detail.find(to_string(signer.id())), std::string::npos);
}

TEST_P(SignedBuffers, EveryFlippedBitIsRefusedByCheckOrOpen) {
  const SigningKey signer = key();
  const KeyRing ring = samples::ring_of(signer);
  Bytes bytes = samples::buffers_envelope(&signer);
  const std::size_t head = open(bytes)->bytes.size();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] ^= static_cast<std::uint8_t>(1 << bit);

      const bool is_accepted = ring.check(bytes).has_value();

      EXPECT_FALSE(is_accepted && open_whole(bytes)) << "byte " << i << " bit " << bit;
      EXPECT_FALSE(is_accepted && i < head) << "byte " << i << " bit " << bit;
      bytes[i] ^= static_cast<std::uint8_t>(1 << bit);
    }
  }
}

TEST_P(SignedBuffers, EveryCutIsRefused) {
  const SigningKey signer = key();
  const KeyRing ring = samples::ring_of(signer);
  const Bytes bytes = samples::buffers_envelope(&signer);
  const std::size_t head = open(bytes)->bytes.size();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const BytesView cut = BytesView(bytes).first(size);

    // The head by itself is signed; the rest of the envelope is missing.
    EXPECT_EQ(ring.check(cut).has_value(), size == head) << size;
    EXPECT_FALSE(open_whole(cut)) << size;
  }
}

TEST_P(SignedBuffers, OfSignAreThoseOfSeal) {
  const SigningKey signer = key();

  const auto made = sign(samples::buffers_envelope(), signer);

  ASSERT_TRUE(made);
  EXPECT_EQ(*made, samples::buffers_envelope(&signer));
}

TEST_P(SignedBuffers, AreSignedAgainByAnotherKey) {
  const SigningKey signer = key();
  const SigningKey other = other_key();

  const auto made = sign(samples::buffers_envelope(&signer), other);

  ASSERT_TRUE(made);
  EXPECT_EQ(*made, samples::buffers_envelope(&other));
}

TEST_P(SignedBuffers, PassAGate) {
  const SigningKey signer = key();
  LoadOptions options;
  options.keys = std::make_shared<const KeyRing>(samples::ring_of(signer));
  const Bytes bytes = samples::buffers_envelope(&signer);

  EXPECT_TRUE(Gate(options).open_trusted(bytes));
  const Bytes unsigned_bytes = samples::buffers_envelope();
  EXPECT_EQ(Gate(options).open_trusted(unsigned_bytes).error().code,
            ErrorCode::kBadSignature);
}

// A head that is signed, behind which somebody put what he liked.
TEST_P(SignedBuffers, WithoutATableAreBytesThatFollow) {
  const SigningKey signer = key();
  samples::Draft draft;
  samples::fill_with_data(draft);
  Bytes bytes = draft.sealed(&signer);
  const std::size_t size = bytes.size();
  bytes.resize(size + 100);
  bytes.back() = static_cast<std::uint8_t>(size);

  EXPECT_TRUE(samples::ring_of(signer).check(bytes));
  EXPECT_EQ(open_whole(bytes).error().code, ErrorCode::kTrailingBytes);
}

TEST_P(SignedBuffers, SizesBeyondTheInputAreNoHeads) {
  const KeyRing ring = samples::ring_of(key());
  for (const int first : {0x00, 0x7f, 0x80, 0xff}) {
    Bytes bytes(64, 0xff);
    bytes[56] = static_cast<std::uint8_t>(first);

    EXPECT_EQ(ring.check(bytes).error().code, ErrorCode::kBadSignature);
    EXPECT_FALSE(ring.check(BytesView(bytes).last(8)));
  }
  EXPECT_FALSE(ring.check({}));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, SignedBuffers,
                         testing::Values(SignatureAlgorithm::kEd25519,
                                         SignatureAlgorithm::kMac));

}  // namespace
}  // namespace waybill
