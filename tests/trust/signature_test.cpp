// Signed envelopes: what is accepted, and that nothing else is.

#include "waybill/signature.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/fails.h"
#include "base/hash.h"
#include "base/parsed_json.h"
#include "format/samples.h"
#include "trust/key_samples.h"
#include "waybill/envelope.h"
#include "waybill/gate.h"
#include "waybill/report.h"

namespace waybill {
namespace {

using samples::Bytes;
using samples::Draft;

const Bytes kApplication = {'t', 'a', 's', 'k', 0, 7};

Bytes sealed(const SigningKey* key, const Bytes& application = kApplication) {
  Draft draft;
  samples::fill_with_function(draft);
  return draft.sealed(key, application);
}

std::string words_of(const Result<void>& verdict) {
  return verdict ? "accepted" : to_string(verdict.error());
}

Bytes signature_of(const SigningKey& key, const Bytes& message) {
  Bytes signature(signature_size(key.algorithm()));
  key.sign_at(message, signature.data());
  return signature;
}

class Signature : public testing::TestWithParam<SignatureAlgorithm> {
 protected:
  bool is_mac() const { return GetParam() == SignatureAlgorithm::kMac; }
  SigningKey key() const {
    return is_mac() ? samples::mac_key() : samples::sender_key();
  }
  SigningKey other_key() const {
    return is_mac() ? samples::mac_key(2) : samples::stranger_key();
  }
};

TEST_P(Signature, IsAcceptedByARingWithItsKey) {
  const SigningKey signer = key();

  const Bytes bytes = sealed(&signer);

  EXPECT_EQ(words_of(samples::ring_of(signer).check(bytes)), "accepted");
  const Result<Envelope> envelope = open_whole(bytes);
  ASSERT_TRUE(envelope) << to_string(envelope.error());
  EXPECT_TRUE(verify(*envelope));
  ASSERT_TRUE(signature_info(*envelope));
  EXPECT_EQ(signature_info(*envelope)->algorithm, GetParam());
  EXPECT_EQ(signature_info(*envelope)->key, signer.id());
}

TEST_P(Signature, EveryFlippedBitIsRefused) {
  const SigningKey signer = key();
  const KeyRing ring = samples::ring_of(signer);
  Bytes bytes = sealed(&signer);
  ASSERT_TRUE(ring.check(bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] ^= static_cast<std::uint8_t>(1 << bit);

      EXPECT_THAT(ring.check(bytes),
                  Fails(ErrorCode::kBadSignature, testing::Le(bytes.size())))
          << "byte " << i << " bit " << bit;
      bytes[i] ^= static_cast<std::uint8_t>(1 << bit);
    }
  }
}

TEST_P(Signature, EveryCutAndEveryByteMoreIsRefused) {
  const SigningKey signer = key();
  const KeyRing ring = samples::ring_of(signer);
  Bytes bytes = sealed(&signer);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(ring.check(cut)) << size;
    const Bytes end(bytes.end() - static_cast<std::ptrdiff_t>(size), bytes.end());
    EXPECT_FALSE(ring.check(end)) << size;
  }
  bytes.push_back(0xc0);
  EXPECT_FALSE(ring.check(bytes));
}

TEST_P(Signature, OfAnotherKeyIsRefusedByName) {
  const SigningKey signer = key();
  const SigningKey other = other_key();
  const Bytes bytes = sealed(&other);

  const Result<void> verdict = samples::ring_of(signer).check(bytes);

  EXPECT_EQ(words_of(verdict),
            "bad_signature at byte " +
                std::to_string(bytes.size() - 11 - signature_size(GetParam())) +
                ": signed by the " + std::string(name_of(GetParam())) + " key " +
                to_string(other.id()) + ", and the reader has " +
                to_string(signer.id()));
}

TEST_P(Signature, OfAnotherKeyUnderTheIdOfAKnownOneIsRefused) {
  const SigningKey signer = key();
  const SigningKey other = other_key();
  Bytes bytes = sealed(&signer);
  const std::size_t covered = bytes.size() - signature_size(GetParam());
  other.sign_at(BytesView(bytes).first(covered), bytes.data() + covered);

  const std::string words = words_of(samples::ring_of(signer).check(bytes));

  EXPECT_NE(words.find("the bytes are not those that were signed"), words.npos);
}

TEST_P(Signature, IsAcceptedWhileKeysAreExchanged) {
  const SigningKey signer = key();
  const SigningKey next = other_key();
  KeyRing ring = samples::ring_of(signer);
  ring.add(next);
  ring.add(next);

  EXPECT_EQ(ring.size(), 2u);
  EXPECT_TRUE(ring.check(sealed(&signer)));
  EXPECT_TRUE(ring.check(sealed(&next)));
}

TEST_P(Signature, IsUnknownToAKeyOfTheOtherAlgorithm) {
  const SigningKey signer = key();
  const KeyRing ring =
      samples::ring_of(is_mac() ? samples::sender_key() : samples::mac_key());

  const std::string words = words_of(ring.check(sealed(&signer)));

  EXPECT_NE(words.find("and the reader has"), words.npos) << words;
}

TEST_P(Signature, IsTheSameWhetherSealedOrAddedAndEachTime) {
  const SigningKey signer = key();
  const Bytes in_place = sealed(&signer);

  const Result<Bytes> once = sign(sealed(nullptr), signer);
  const Result<Bytes> twice = sign(*once, signer);

  EXPECT_EQ(*once, in_place);
  EXPECT_EQ(*twice, in_place);
}

TEST_P(Signature, TakesThePlaceOfAnother) {
  const SigningKey first = samples::mac_key(9);
  const SigningKey signer = key();

  const Result<Bytes> bytes = sign(sealed(&first), signer);

  EXPECT_EQ(*bytes, sealed(&signer));
}

TEST_P(Signature, StandsWithinTheBoundOfTheEnvelope) {
  const SigningKey signer = key();
  for (const std::size_t size : {0, 1, 255, 256, 65535, 65536}) {
    Draft draft;
    samples::fill_with_data(draft);
    const Bytes application(size, 3);

    const Bytes bytes = draft.sealed(&signer, application);

    const Result<Envelope> envelope = open_whole(bytes);
    ASSERT_TRUE(envelope) << to_string(envelope.error());
    EXPECT_TRUE(std::ranges::equal(envelope->application, application));
    EXPECT_TRUE(samples::ring_of(signer).check(bytes));
  }
}

TEST_P(Signature, IsToldByReports) {
  const SigningKey signer = key();
  const Bytes bytes = sealed(&signer);
  const Result<Envelope> envelope = open_whole(bytes);

  const ParsedJson report(report_json(*envelope));

  EXPECT_EQ(report["signed"], true);
  EXPECT_EQ(report["signature"]["algorithm"], std::string(name_of(GetParam())));
  EXPECT_EQ(report["signature"]["key"], to_string(signer.id()));
  const std::string text = report_text(*envelope);
  EXPECT_NE(text.find(to_string(signer.id()) + ", not checked"), text.npos);
}

INSTANTIATE_TEST_SUITE_P(Both, Signature,
                         testing::Values(SignatureAlgorithm::kEd25519,
                                         SignatureAlgorithm::kMac),
                         [](const auto& test) {
                           return std::string(name_of(test.param));
                         });

TEST(Signatures, WhatIsNotSignedIsRefused) {
  const Bytes bytes = sealed(nullptr);

  const Result<void> verdict = samples::ring_of(samples::sender_key()).check(bytes);

  EXPECT_EQ(words_of(verdict), "bad_signature at byte " + std::to_string(bytes.size()) +
                                   ": the envelope is not signed, and the reader "
                                   "demands a signature");
}

TEST(Signatures, ARingWithoutKeysAcceptsNothing) {
  const SigningKey key = samples::mac_key();

  const std::string words = words_of(KeyRing().check(sealed(&key)));

  EXPECT_NE(words.find("and the reader has no key"), words.npos) << words;
}

// Random bytes of a signature can look like the other tail: 41 bytes before the end.
TEST(Signatures, ATailThatLooksLikeBothIsTriedAsBoth) {
  const SigningKey signer = samples::mac_key();
  Bytes bytes = sealed(nullptr);
  bytes.pop_back();
  // An Ed25519 tail that has the head of a MAC's where that would stand.
  Bytes tail = {0xc4, 73, 1, 1, 2, 3, 4, 5, 6, 7, 8};
  tail.resize(11 + 64 - 43);
  bytes.insert(bytes.end(), tail.begin(), tail.end());
  bytes.insert(bytes.end(), {0xc4, 41, 2});
  bytes.insert(bytes.end(), signer.id().begin(), signer.id().end());
  const Bytes mac = signature_of(signer, bytes);
  bytes.insert(bytes.end(), mac.begin(), mac.end());

  EXPECT_EQ(words_of(samples::ring_of(signer).check(bytes)), "accepted");
  EXPECT_FALSE(samples::ring_of(samples::sender_key()).check(bytes));
}

TEST(Signatures, SigningWhatIsNoEnvelopeFails) {
  const SigningKey key = samples::mac_key();
  Bytes bytes = sealed(nullptr);
  bytes.push_back(0);

  EXPECT_EQ(sign(bytes, key).error().code, ErrorCode::kTrailingBytes);
  EXPECT_EQ(sign(Bytes{1, 2}, key).error().code, ErrorCode::kNotAnEnvelope);
}

TEST(Signatures, ASignatureOfAnotherKindIsKeptByOpenAndUnknownToReports) {
  Bytes bytes = sealed(nullptr);
  bytes.back() = 0xc4;
  bytes.insert(bytes.end(), {3, 9, 9, 9});

  const Result<Envelope> envelope = open_whole(bytes);

  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->signature.size(), 3u);
  EXPECT_FALSE(signature_info(*envelope));
  EXPECT_FALSE(ParsedJson(report_json(*envelope)).contains("signature"));
  EXPECT_TRUE(sign(bytes, samples::mac_key()));
}

TEST(Application, IsAbsentWhereThereIsNone) {
  const Bytes bytes = samples::data_envelope();

  EXPECT_EQ(bytes[1], 0x95);
  EXPECT_TRUE(open(bytes)->application.empty());
  EXPECT_FALSE(ParsedJson(report_json(*open(bytes))).contains("application"));
}

TEST(Application, IsToldByReports) {
  const Bytes bytes = sealed(nullptr);

  const ParsedJson report(report_json(*open(bytes)));

  EXPECT_EQ(report["application"],
            ParsedJson(R"({"size": 6, "start": "7461736b0007"})"));
  EXPECT_NE(report_text(*open(bytes)).find("application 7461736b0007  6 bytes"),
            std::string::npos);
  const Bytes longer = sealed(nullptr, Bytes(41, 1));
  EXPECT_NE(report_text(*open(longer)).find("01…  41 bytes"), std::string::npos);
}

TEST(Application, IsAbsentWhereSomethingElseThanBinaryStands) {
  for (const Bytes& value : {Bytes{0xc0}, Bytes{7}, Bytes{0xa1, 'x'}, Bytes{0x91, 1}}) {
    Bytes bytes = samples::data_envelope();
    bytes[1] = 0x96;
    bytes.insert(bytes.begin() + 11, value.begin(), value.end());
    samples::fit_digest(bytes);

    const Result<Envelope> envelope = open_whole(bytes);

    ASSERT_TRUE(envelope) << to_string(envelope.error());
    EXPECT_TRUE(envelope->application.empty());
    EXPECT_TRUE(verify(*envelope));
  }
}

// RFC 8032, section 7.1, tests 1 to 3.
TEST(KnownAnswers, OfEd25519) {
  const struct {
    const char *seed, *public_key, *message, *signature;
  } rows[] = {
      {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
       "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
       "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
       "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
      {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
       "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
       "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
       "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
      {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
       "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
       "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
       "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
  };
  for (const auto& row : rows) {
    const SigningKey key = samples::ed25519_key(row.seed);

    EXPECT_EQ(signature_of(key, samples::bytes_of(row.message)),
              samples::bytes_of(row.signature));
    EXPECT_EQ(*key.public_text(),
              "waybill-ed25519-public:" +
                  samples::base64_of(samples::bytes_of(row.public_key)));
  }
}

// Signatures of envelopes with buffers behind their heads.

using SignedBuffers = Signature;

TEST_P(SignedBuffers, AreAcceptedByTheSignatureOfTheirHead) {
  const SigningKey signer = key();
  const Bytes bytes = samples::buffers_envelope(&signer);
  const BytesView head = open(bytes)->bytes;

  EXPECT_TRUE(samples::ring_of(signer).check(bytes));
  EXPECT_TRUE(samples::ring_of(signer).check(head));
  EXPECT_THAT(samples::ring_of(other_key()).check(bytes),
              Fails(ErrorCode::kBadSignature, testing::Lt(head.size()),
                    testing::HasSubstr(to_string(signer.id()))));
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

TEST_P(SignedBuffers, OfSignAreThoseOfSealAlsoWhereAnotherKeySignedBefore) {
  const SigningKey signer = key();
  const SigningKey other = other_key();
  for (const SigningKey* before : {static_cast<const SigningKey*>(nullptr), &other}) {
    const auto made = sign(samples::buffers_envelope(before), signer);

    ASSERT_TRUE(made);
    EXPECT_EQ(*made, samples::buffers_envelope(&signer));
  }
}

TEST_P(SignedBuffers, PassAGate) {
  const SigningKey signer = key();
  LoadOptions options = {.keys =
                             std::make_shared<const KeyRing>(samples::ring_of(signer))};
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
