// Buffers behind the head of an envelope.

#include "waybill/buffers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/fails.h"
#include "base/hash.h"
#include "format/frame.h"
#include "format/samples.h"
#include "waybill/envelope.h"
#include "waybill/signature.h"

namespace waybill {
namespace {

using samples::Bytes;
using samples::Draft;

Bytes with_byte(Bytes bytes, std::size_t at, std::uint8_t byte) {
  bytes[at] = byte;
  return bytes;
}

ErrorCode code_with_byte(const Bytes& bytes, std::size_t at, std::uint8_t byte) {
  const Bytes altered = with_byte(bytes, at, byte);
  const Result<Envelope> opened = open(altered);
  return opened ? ErrorCode::kRaised : opened.error().code;
}

TEST(Buffers, OpenAsTheyWereSealed) {
  const Bytes bytes = samples::buffers_envelope();

  const Result<Envelope> envelope = open_whole(bytes);

  ASSERT_TRUE(envelope) << to_string(envelope.error());
  ASSERT_EQ(envelope->buffers.size(), 2u);
  const StoredBuffer& text = envelope->buffers[0];
  EXPECT_EQ(text.kind, wire::BufferKind::kBytes);
  EXPECT_TRUE(std::ranges::equal(text.bytes, samples::kStoredText));
  EXPECT_TRUE(text.format.empty());
  EXPECT_TRUE(text.shape.empty());
  EXPECT_FALSE(text.is_fortran);
  const StoredBuffer& items = envelope->buffers[1];
  EXPECT_EQ(items.kind, wire::BufferKind::kWritable);
  EXPECT_TRUE(std::ranges::equal(items.bytes, samples::kStoredItems));
  EXPECT_EQ(items.format, "B");
  EXPECT_EQ(items.shape, (std::vector<std::uint64_t>{5, 20}));
  EXPECT_TRUE(items.is_fortran);
}

TEST(Buffers, StandAtMultiplesOf64BehindTheHead) {
  const Bytes bytes = samples::buffers_envelope();

  const Result<Envelope> envelope = open(bytes);

  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->buffers_offset % 64, 0u);
  EXPECT_LT(envelope->buffers_offset - envelope->bytes.size(), 64u);
  EXPECT_EQ(envelope->buffers[0].offset, 0u);
  EXPECT_EQ(envelope->buffers[1].offset, 64u);
  EXPECT_EQ(envelope->size, bytes.size());
  EXPECT_EQ(envelope->size, envelope->buffers_offset + 64 + 100 + 8);
  EXPECT_EQ(envelope->buffers[1].bytes.data(),
            bytes.data() + envelope->buffers_offset + 64);
}

TEST(Buffers, LeaveTheHeadAMsgpackValueOfNineParts) {
  const Bytes bytes = samples::buffers_envelope();
  wire::Reader reader(bytes);
  std::uint64_t count = 0;

  ASSERT_TRUE(reader.read_array(count, "the envelope"));

  EXPECT_EQ(count, wire::kSectionCountWithBuffers);
  while (count-- != 0) EXPECT_TRUE(reader.skip());
  EXPECT_EQ(reader.offset(), open(bytes)->bytes.size());
}

TEST(Buffers, OfAnEnvelopeWithoutAnyTakeNothing) {
  const Bytes bytes = samples::function_envelope();

  const Result<Envelope> envelope = open(bytes);

  ASSERT_TRUE(envelope);
  EXPECT_TRUE(envelope->buffers.empty());
  EXPECT_EQ(envelope->buffers_offset, envelope->size);
}

TEST(Buffers, AreCheckedByTheirDigests) {
  const Bytes bytes = samples::buffers_envelope();
  const Envelope envelope = *open(bytes);
  for (const StoredBuffer& row : envelope.buffers) {
    const std::size_t last = envelope.buffers_offset + row.offset + row.length - 1;
    const Bytes altered = with_byte(bytes, last, 99);

    EXPECT_THAT(open(altered), Fails(ErrorCode::kDigestMismatch,
                                     envelope.buffers_offset + row.offset));
  }
}

TEST(Buffers, HaveZerosBetweenThem) {
  const Bytes bytes = samples::buffers_envelope();
  const Envelope envelope = *open(bytes);
  const std::size_t between = envelope.buffers_offset + envelope.buffers[0].length;
  for (std::size_t i = envelope.bytes.size(); i < bytes.size(); ++i) {
    if (i == envelope.buffers_offset) i = between;
    if (i == envelope.buffers_offset + envelope.buffers[1].offset) break;

    const Bytes altered = with_byte(bytes, i, 1);
    EXPECT_THAT(open(altered), Fails(ErrorCode::kMalformed, i)) << i;
  }
}

TEST(Buffers, AreFollowedByTheSizeOfTheHead) {
  const Bytes bytes = samples::buffers_envelope();
  const std::size_t trailer = bytes.size() - 8;
  ASSERT_EQ(bytes.back(), open(bytes)->bytes.size() & 0xff);
  for (std::size_t i = trailer; i < bytes.size(); ++i) {
    const Bytes altered = with_byte(bytes, i, bytes[i] ^ 1);

    EXPECT_THAT(open(altered), Fails(ErrorCode::kMalformed, trailer)) << i;
  }
}

TEST(Buffers, BelongToTheFirstOfAStream) {
  Bytes stream = samples::buffers_envelope();
  const std::size_t first = stream.size();
  const Bytes second = samples::data_envelope();
  stream.insert(stream.end(), second.begin(), second.end());

  EXPECT_EQ(open(stream)->size, first);
  EXPECT_EQ(open_whole(stream).error().code, ErrorCode::kTrailingBytes);
  EXPECT_EQ(open_whole(stream).error().offset, first);
}

TEST(Buffers, AreNotLookedAtWithTheHead) {
  const Bytes bytes = samples::buffers_envelope();
  const std::size_t head = open(bytes)->bytes.size();

  const Result<Envelope> envelope = open_head(BytesView(bytes).first(head));

  ASSERT_TRUE(envelope);
  EXPECT_EQ(envelope->size, bytes.size());
  EXPECT_EQ(envelope->buffers[1].length, 100u);
  EXPECT_TRUE(envelope->buffers[1].bytes.empty());
  EXPECT_FALSE(open_head(BytesView(bytes).first(head - 1)));
}

TEST(Buffers, AreFoundInOtherMemoryThanTheHead) {
  const Bytes bytes = samples::buffers_envelope();
  Result<Envelope> envelope = open_head(bytes);
  ASSERT_TRUE(envelope);
  const Bytes copy = bytes;

  const Result<void> attached = attach_buffers(*envelope, copy);

  ASSERT_TRUE(attached) << to_string(attached.error());
  EXPECT_EQ(envelope->buffers[0].bytes.data(), copy.data() + envelope->buffers_offset);
  EXPECT_TRUE(check_buffer(envelope->buffers[0], envelope->buffers[0].bytes, 0));
  EXPECT_FALSE(check_buffer(envelope->buffers[0], envelope->buffers[1].bytes, 0));
  EXPECT_EQ(
      attach_buffers(*envelope, BytesView(copy).first(copy.size() - 1)).error().code,
      ErrorCode::kTruncated);
}

TEST(Buffers, AreComparedWithTheirDigestsOnceTheyAreThere) {
  const Bytes bytes = samples::buffers_envelope();
  Result<Envelope> envelope = open_head(bytes);
  ASSERT_TRUE(envelope && attach_buffers(*envelope, bytes));
  const std::vector<StoredBuffer>& rows = envelope->buffers;
  const auto place = [&](std::size_t i) {
    return envelope->buffers_offset + rows[i].offset;
  };
  std::vector<std::uint64_t> told;

  const Result<void> checked =
      check_buffers(*envelope, [&](std::uint64_t done) { told.push_back(done); });

  EXPECT_TRUE(checked);
  EXPECT_EQ(told, (std::vector<std::uint64_t>{place(0) + rows[0].length,
                                              place(1) + rows[1].length}));
  for (const std::size_t i : {0, 1}) {
    const std::size_t last = place(i) + rows[i].length - 1;
    const Bytes altered = with_byte(bytes, last, bytes[last] ^ 1);
    ASSERT_TRUE(attach_buffers(*envelope, altered));
    EXPECT_THAT(check_buffers(*envelope), Fails(ErrorCode::kDigestMismatch, place(i)));
  }
}

TEST(Buffers, CountAgainstTheLimitOfBytesWithTheHeadAlone) {
  const Bytes bytes = samples::buffers_envelope();
  const BytesView head = open(bytes)->bytes;

  EXPECT_THAT(open_head(head, {.max_bytes = bytes.size() - 1}),
              Fails(ErrorCode::kLimitExceeded, testing::Le(head.size())));
  EXPECT_TRUE(open_head(head, {.max_bytes = bytes.size()}));
}

TEST(Buffers, HaveAHeadThatIsSealedByItself) {
  Draft draft;
  samples::fill_with_buffers(draft);
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kMac);
  for (const SigningKey* each : {static_cast<const SigningKey*>(nullptr), &key}) {
    Parts parts;
    parts.python = draft.python;
    parts.payload = draft.payload.view();
    parts.buffers = draft.buffers;
    parts.key = each;
    Bytes head(head_bound(parts));

    const std::uint8_t* end = seal_head_at(parts, head.data());

    head.resize(static_cast<std::size_t>(end - head.data()));
    const Bytes whole = draft.sealed(each);
    EXPECT_TRUE(std::ranges::equal(head, open(whole)->bytes));
    EXPECT_EQ(head.size() + head_padding(head.size()), open(whole)->buffers_offset);
  }
}

TEST(Buffers, AreSealedFromWhereTheyLie) {
  Draft draft;
  samples::fill_with_buffers(draft);
  Parts parts;
  parts.python = draft.python;
  parts.payload = draft.payload.view();
  parts.buffers = draft.buffers;
  Bytes joined;
  std::vector<const std::uint8_t*> given;

  seal_to(parts, [&](BytesView piece, bool is_buffer) {
    joined.insert(joined.end(), piece.begin(), piece.end());
    if (is_buffer) given.push_back(piece.data());
  });

  EXPECT_EQ(joined, draft.sealed());
  ASSERT_EQ(given.size(), draft.buffers.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(given[i], draft.buffers[i].bytes.data());
  }
}

TEST(Buffers, FitIntoTheBoundOfWhatIsSealed) {
  Draft draft;
  samples::fill_with_buffers(draft);
  Parts parts;
  parts.payload = draft.payload.view();
  parts.buffers = draft.buffers;
  const std::size_t bound = sealed_bound(parts);
  const auto memory = std::make_unique<std::uint8_t[]>(bound);

  const std::uint8_t* end = seal_at(parts, memory.get());

  EXPECT_LE(end, memory.get() + bound);
  EXPECT_LE(bound, static_cast<std::size_t>(end - memory.get()) + 500);
}

TEST(Buffers, OfSignedEnvelopesHaveStrongDigests) {
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kEd25519);
  const Bytes bytes = samples::buffers_envelope(&key);

  const Result<Envelope> envelope = open_whole(bytes);

  ASSERT_TRUE(envelope) << to_string(envelope.error());
  EXPECT_TRUE(std::ranges::equal(envelope->buffers[0].digest,
                                 samples::strong_digest_of(samples::kStoredText)));
  EXPECT_EQ(code_with_byte(bytes, envelope->buffers_offset, 'x'),
            ErrorCode::kDigestMismatch);
}

TEST(Buffers, KeepWhatTheyAreUnderAnotherApplicationField) {
  const Bytes bytes = samples::buffers_envelope();
  Draft draft;
  samples::fill_with_buffers(draft);

  const auto changed = with_application(bytes, Bytes(70, 1));

  ASSERT_TRUE(changed);
  EXPECT_EQ(*changed, draft.sealed(nullptr, Bytes(70, 1)));
  EXPECT_EQ(*with_application(*changed, {}), bytes);
}

TEST(Buffers, OfWhatWasSignedGetPlainDigestsWithAnotherApplicationField) {
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kEd25519);

  const auto changed = with_application(samples::buffers_envelope(&key), {});

  ASSERT_TRUE(changed);
  EXPECT_EQ(*changed, samples::buffers_envelope());
}

}  // namespace
}  // namespace waybill
