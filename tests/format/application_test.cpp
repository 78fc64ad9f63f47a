// The application field of an envelope that is there already.

#include <gtest/gtest.h>

#include "format/samples.h"
#include "waybill/envelope.h"
#include "waybill/signature.h"

namespace waybill {
namespace {

using samples::Bytes;
using samples::Draft;

const Bytes kField = {'t', 'a', 's', 'k', 0, 7};

Bytes sealed(const Bytes& application = {}) {
  Draft draft;
  samples::fill_with_function(draft);
  return draft.sealed(nullptr, application);
}

TEST(Application, IsWhatTheSenderCouldHavePutThere) {
  EXPECT_EQ(*with_application(sealed(), kField), sealed(kField));
  EXPECT_EQ(*with_application(sealed(kField), Bytes(300, 1)), sealed(Bytes(300, 1)));
  EXPECT_EQ(*with_application(sealed(kField), {}), sealed());
  EXPECT_EQ(*with_application(sealed(), {}), sealed());
}

TEST(Application, LeavesNoSignatureOfOtherBytes) {
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kEd25519);
  Draft draft;
  samples::fill_with_function(draft);

  const auto changed = with_application(draft.sealed(&key), kField);

  ASSERT_TRUE(changed);
  EXPECT_TRUE(open_whole(*changed)->signature.empty());
  EXPECT_EQ(*changed, sealed(kField));
}

// Of a later format: a header of seven fields, the last of which is nothing to us.
TEST(Application, LaterFieldsOfTheHeaderStay) {
  Bytes later = sealed({1, 2, 3});
  ASSERT_EQ(later[1], 0x96);
  const Bytes field = {0xc4, 3, 1, 2, 3};
  const auto at = std::search(later.begin(), later.end(), field.begin(), field.end());
  ASSERT_NE(at, later.end());
  later.insert(at + std::ssize(field), {0xa1, 'x'});
  later[1] = 0x97;
  samples::fit_digest(later);

  const Bytes without = *with_application(later, {});
  const Bytes again = *with_application(without, Bytes{1, 2, 3});

  EXPECT_EQ(again, later);
  EXPECT_TRUE(open_whole(without)->application.empty());
  EXPECT_TRUE(verify(*open_whole(without)));
}

TEST(Application, WhatIsNoEnvelopeIsRefused) {
  EXPECT_EQ(with_application(Bytes{1, 2}, kField).error().code,
            ErrorCode::kNotAnEnvelope);
  Bytes more = sealed();
  more.push_back(0);
  EXPECT_EQ(with_application(more, kField).error().code, ErrorCode::kTrailingBytes);
}

}  // namespace
}  // namespace waybill
