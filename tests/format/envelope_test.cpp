#include "waybill/envelope.h"

#include <gtest/gtest.h>

#include "base/fails.h"
#include "base/hash.h"
#include "format/samples.h"
#include "waybill/signature.h"
#include "wire/reader.h"

namespace waybill {
namespace {

using namespace samples;

TEST(Envelope, OpensWhatWasSealed) {
  const Bytes bytes = function_envelope();

  const Result<Envelope> envelope = open(bytes);

  ASSERT_TRUE(envelope) << to_string(envelope.error());
  EXPECT_EQ(envelope->format_version, 1u);
  EXPECT_EQ(envelope->python, (PythonVersion{3, 11, 3495}));
  EXPECT_EQ(envelope->manifest.imports.size(), 3u);
  EXPECT_EQ(envelope->code.size(), 2u);
  EXPECT_EQ(envelope->shared, (std::vector<std::uint64_t>{1}));
  EXPECT_TRUE(envelope->signature.empty());
  EXPECT_EQ(envelope->size, bytes.size());
  EXPECT_EQ(envelope->bytes.size(), bytes.size());
}

TEST(Envelope, PutsInsertionsWhereTheyBelong) {
  const Bytes first(300, 1);
  const Bytes second(2, 2);
  const auto write = [&](Draft& draft, bool in_place) {
    draft.payload.array(3);
    for (const Bytes* bytes : {&first, &second}) {
      draft.payload.binary_head(bytes->size());
      in_place ? draft.payload.append_in_place(*bytes) : draft.payload.append(*bytes);
    }
    draft.payload.text("end");
    return draft.sealed();
  };
  Draft copied, in_place;
  EXPECT_EQ(write(copied, false), write(in_place, true));
}

TEST(Envelope, KeepsPayloadAndCodeByteForByte) {
  Draft draft;
  fill_with_function(draft);
  const Bytes bytes = draft.sealed();

  const Result<Envelope> envelope = open(bytes);

  ASSERT_TRUE(envelope);
  EXPECT_TRUE(std::ranges::equal(envelope->payload.bytes, draft.payload.view()));
  EXPECT_TRUE(std::ranges::equal(envelope->code[1].bytes, draft.code[1]));
  EXPECT_EQ(envelope->payload.bytes.data(), bytes.data() + envelope->payload.offset);
  EXPECT_EQ(envelope->code[1].bytes.data(), bytes.data() + envelope->code[1].offset);
}

TEST(Envelope, AddressesCodeByTheHashOfItsBody) {
  Draft draft;
  fill_with_function(draft);
  const Bytes bytes = draft.sealed();

  const Result<Envelope> envelope = open(bytes);

  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->code[0].hash, base::content_hash_of(draft.code[0]));
}

TEST(Envelope, IsOneMsgpackValueOfEightParts) {
  const Bytes bytes = function_envelope();
  wire::Reader reader(bytes);
  std::uint64_t count = 0;

  EXPECT_TRUE(reader.read_array(count, "the envelope"));
  EXPECT_EQ(count, wire::kSectionCount);
  while (count-- != 0) EXPECT_TRUE(reader.skip());
  EXPECT_TRUE(reader.at_end());
}

TEST(Envelope, SealsEqualPartsToEqualBytes) {
  EXPECT_EQ(function_envelope(), function_envelope());
}

TEST(Envelope, SealAppends) {
  Draft draft;
  fill_with_data(draft);
  Parts parts;
  parts.payload = draft.payload.view();
  Bytes out = {1, 2, 3};

  seal(parts, out);

  ASSERT_TRUE(open(BytesView(out).subspan(3)));
  EXPECT_EQ(out[2], 3);
}

TEST(Envelope, SealedBoundIsABoundAndClose) {
  Draft draft;
  fill_with_function(draft);
  Parts parts;
  parts.manifest = &draft.manifest;
  parts.payload = draft.payload.view();
  const std::size_t bound = sealed_bound(parts);
  Bytes out;

  seal(parts, out);

  EXPECT_LE(out.size(), bound);
  EXPECT_LE(bound, out.size() + 250);
}

TEST(Envelope, TakesAnEncodedManifest) {
  Draft draft;
  fill_with_function(draft);
  Bytes manifest;
  encode_manifest(draft.manifest, manifest);
  Parts with_manifest, with_bytes;
  with_manifest.manifest = &draft.manifest;
  with_bytes.encoded_manifest = manifest;
  with_manifest.payload = with_bytes.payload = draft.payload.view();
  Bytes one, other;

  seal(with_manifest, one);
  seal(with_bytes, other);

  EXPECT_EQ(one, other);
}

TEST(Envelope, OpensTheFirstOfAStream) {
  Bytes stream = data_envelope();
  const std::size_t first = stream.size();
  const Bytes second = function_envelope();
  stream.insert(stream.end(), second.begin(), second.end());

  const Result<Envelope> envelope = open(stream);

  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->size, first);
  EXPECT_EQ(open(BytesView(stream).subspan(first))->size, second.size());
}

TEST(Envelope, PassesOverHeaderFieldsOfALaterVersion) {
  wire::Writer out;
  put(out, {array(wire::kSectionCount), array(7), "wb"});
  for (const int field : {1, 3, 11, 3495, 99}) out.integer(field);
  put(out, {"a later field", map(0), array(0), array(0), 1, kNil, map(0)});
  out.binary(base::digest_of(out.view()));
  out.nil();

  EXPECT_TRUE(open(out.view()));
}

TEST(Envelope, KeepsASignature) {
  Bytes bytes = data_envelope();
  bytes.pop_back();
  wire::Writer signature;
  signature.binary(Bytes(64, 7));
  bytes.insert(bytes.end(), signature.view().begin(), signature.view().end());

  const Result<Envelope> envelope = open(bytes);

  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->signature.size(), 64u);
}

TEST(Envelope, CodeRunsOnlyOnThePythonThatMadeIt) {
  const Bytes code = function_envelope();
  const Bytes data = data_envelope();
  const PythonVersion other{3, 12, 3531};

  EXPECT_TRUE(check_python(*open(code), {3, 11, 3495}));
  EXPECT_FALSE(check_python(*open(code), other));
  EXPECT_TRUE(check_python(*open(data), other));
}

TEST(Envelope, LooksAtNoMoreThanTheLimitOfBytes) {
  const Bytes bytes = function_envelope();
  Limits limits = {.max_bytes = bytes.size() - 1};

  EXPECT_THAT(open(bytes, limits), Fails(ErrorCode::kLimitExceeded));
  limits.max_bytes = bytes.size();
  EXPECT_TRUE(open(bytes, limits));
}

// The application field of an envelope that is there already.

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
