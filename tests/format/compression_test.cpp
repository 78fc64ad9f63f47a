// Buffers that are compressed: what they become, and that they come back.

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <string>

#include "base/hash.h"
#include "format/compressed_samples.h"
#include "format/compression.h"
#include "waybill/signature.h"

namespace waybill {
namespace {

using namespace samples;

constexpr std::size_t kBlock = wire::kCompressedBlock;

struct Compressed {
  Bytes memory;
  BufferParts buffer;
};

Compressed compressed(BytesView bytes, int level = 3,
                      std::span<const std::uint64_t> shape = {}) {
  Compressed made;
  made.memory.resize(compression_bound(bytes.size()));
  made.buffer.bytes = bytes;
  made.buffer.shape = shape;
  compress_buffer(made.buffer, level, made.memory.data());
  return made;
}

Bytes envelope_of(const Compressed& made, const SigningKey* key = nullptr) {
  return with_stored(made.buffer.bytes, made.buffer.length,
                     made.buffer.compression->item_size, key);
}

TEST(Compression, GivesBackWhatItGot) {
  for (const std::size_t size :
       {kBlock / 16, kBlock - 1, kBlock, kBlock + 1, 2 * kBlock + 12345}) {
    for (const int level : {1, 3, 19}) {
      if (level == 19 && size > kBlock) continue;  // It takes seconds.
      const Bytes bytes = rising(size, 1);
      const Compressed made = compressed(bytes, level);

      ASSERT_TRUE(made.buffer.compression);
      EXPECT_EQ(made.buffer.length, size);
      EXPECT_LT(made.buffer.bytes.size(), size / 8);
      EXPECT_EQ(first_buffer(envelope_of(made)), bytes);
    }
  }
}

TEST(Compression, GivesBackWhatIsCompressedFast) {
  const Bytes bytes = rising(2 * kBlock + 12345, 1);
  for (const int level : {-7, -1}) {
    const Compressed made = compressed(bytes, level);

    ASSERT_TRUE(made.buffer.compression);
    EXPECT_EQ(first_buffer(envelope_of(made)), bytes);
  }
}

TEST(Compression, TakesTheNearestLevelThatThereIs) {
  const Bytes bytes = rising(kBlock / 16, 1);
  const auto written = [&](int level) {
    const Compressed made = compressed(bytes, level);
    return Bytes(made.buffer.bytes.begin(), made.buffer.bytes.end());
  };

  EXPECT_EQ(written(0), written(1));
  for (const int level : {-8, INT_MIN}) EXPECT_EQ(written(level), written(-7));
  for (const int level : {20, 22, INT_MAX}) EXPECT_EQ(written(level), written(19));
}

TEST(Compression, LeavesWhatIsCompressedAlreadyAsItIs) {
  const Bytes bytes = rising(200'000, 1);
  Compressed made = compressed(bytes);
  const BytesView before = made.buffer.bytes;
  Bytes memory(bytes.size());

  EXPECT_EQ(compress_buffer(made.buffer, 3, memory.data()), 0u);

  EXPECT_EQ(made.buffer.bytes.data(), before.data());
  EXPECT_EQ(made.buffer.length, bytes.size());
}

TEST(Compression, SortsBytesByTheSizeOfItemsWherePaying) {
  for (const std::size_t item_size : {2, 4, 8, 16}) {
    const Bytes bytes = rising(200'000, item_size);
    const std::uint64_t shape[] = {100, 2000};

    const Compressed made = compressed(bytes, 3, shape);

    ASSERT_TRUE(made.buffer.compression);
    EXPECT_EQ(made.buffer.compression->item_size, item_size);
    EXPECT_EQ(first_buffer(envelope_of(made)), bytes);
  }
}

TEST(Compression, FindsTheSizeOfItemsThatNothingTells) {
  const Bytes bytes = rising(200'000, 8);

  EXPECT_EQ(compressed(bytes).buffer.compression->item_size, 8);
}

TEST(Compression, LeavesTextInItsOrder) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "line " + std::to_string(i) + " of a text\n";

  const Bytes bytes(text.begin(), text.end());
  EXPECT_EQ(compressed(bytes).buffer.compression->item_size, 1);
}

TEST(Compression, LeavesWhatGainsTooLittleAsItIs) {
  for (const std::size_t size :
       {std::size_t{1}, kBlock / 16, 3 * kBlock, 40 * kBlock}) {
    const Bytes bytes = noise(size);

    const Compressed made = compressed(bytes);

    EXPECT_FALSE(made.buffer.compression);
    EXPECT_EQ(made.buffer.bytes.data(), bytes.data());
  }
}

TEST(Compression, OfALargeBufferIsTriedAtSeveralPlaces) {
  Bytes bytes(40 * kBlock);
  const Bytes start = noise(10 * kBlock);
  std::ranges::copy(start, bytes.begin());

  const Compressed made = compressed(bytes, 1);

  ASSERT_TRUE(made.buffer.compression);
  EXPECT_EQ(first_buffer(envelope_of(made)), bytes);
}

TEST(Compression, OfEqualBytesIsEqual) {
  const Bytes bytes = rising(300'000, 8), copy = bytes;

  const Compressed first = compressed(bytes), second = compressed(copy);

  EXPECT_TRUE(std::ranges::equal(first.buffer.bytes, second.buffer.bytes));
}

TEST(Compression, IsStandardZstd) {
  const Bytes bytes = rising(3 * kBlock, 1);
  const Compressed made = compressed(bytes);
  Bytes all(bytes.size());

  const std::size_t size = ZSTD_decompress(
      all.data(), all.size(), made.buffer.bytes.data(), made.buffer.bytes.size());

  EXPECT_EQ(size, bytes.size());
  EXPECT_EQ(all, bytes);
}

TEST(Compression, IsReadBlockByBlock) {
  const Bytes bytes = rising(300'000, 8);
  const Bytes sealed = envelope_of(compressed(bytes));
  const Envelope envelope = *open(sealed);
  const StoredBuffer& row = envelope.buffers[0];
  envelope::CompressedBlocks blocks(row, row.bytes, 0);
  Bytes content(bytes.size());

  for (std::size_t at = 0; at < bytes.size(); at += kBlock) {
    const std::size_t size = std::min(kBlock, bytes.size() - at);
    ASSERT_TRUE(blocks.next(std::span(content).subspan(at, size)));
  }

  EXPECT_TRUE(blocks.finish());
  EXPECT_EQ(content, bytes);
}

TEST(Compression, IsToldInTheTable) {
  const Bytes bytes = rising(300'000, 8);
  const Compressed made = compressed(bytes);
  const Bytes sealed = envelope_of(made);

  const Result<Envelope> envelope = open_whole(sealed);

  ASSERT_TRUE(envelope) << to_string(envelope.error());
  const StoredBuffer& row = envelope->buffers[0];
  EXPECT_EQ(row.length, bytes.size());
  EXPECT_EQ(row.stored_length, made.buffer.bytes.size());
  EXPECT_EQ(row.compression->method, wire::CompressionMethod::kZstd);
  EXPECT_EQ(row.compression->item_size, 8);
  EXPECT_TRUE(std::ranges::equal(row.bytes, made.buffer.bytes));
  EXPECT_EQ(envelope->size, envelope->buffers_offset + row.stored_length + 8);
  EXPECT_TRUE(std::ranges::equal(row.digest, base::digest_of(row.bytes)));
}

TEST(Compression, KeepsItsBytesWhenAnEnvelopeIsSigned) {
  const Bytes bytes = rising(100'000, 8);
  const Bytes sealed = envelope_of(compressed(bytes));
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kMac);

  const Bytes made = *sign(sealed, key);
  const Result<Envelope> envelope = open_whole(made);

  ASSERT_TRUE(envelope) << to_string(envelope.error());
  const Envelope before = *open(sealed);
  const StoredBuffer& row = envelope->buffers[0];
  EXPECT_TRUE(std::ranges::equal(row.bytes, before.buffers[0].bytes));
  EXPECT_TRUE(std::ranges::equal(row.digest, samples::strong_digest_of(row.bytes)));
  EXPECT_EQ(first_buffer(made), bytes);
  EXPECT_EQ(*with_application(made, {}), sealed);
}

TEST(Compression, OfSeveralBuffersStandsWhereTheyDo) {
  const Bytes first = rising(50'000, 4), second = noise(1000);
  const Compressed one = compressed(first);
  Draft draft;
  draft.payload.array(3);
  for (const std::uint64_t number : {0, 1, 2}) put(draft.payload, {stored(number)});
  draft.buffers = {one.buffer, {wire::BufferKind::kBytes, second}, one.buffer};

  const Bytes sealed = draft.sealed();
  const Result<Envelope> envelope = open_whole(sealed);

  ASSERT_TRUE(envelope) << to_string(envelope.error());
  EXPECT_TRUE(std::ranges::equal(envelope->buffers[1].bytes, second));
  EXPECT_TRUE(std::ranges::equal(envelope->buffers[2].bytes, one.buffer.bytes));
}

TEST(Compression, MayBeMadeWhereTheEnvelopeIs) {
  const Bytes first = rising(50'000, 8), second = noise(100'000);
  Bytes payload = {0xc0};
  std::vector<BufferParts> buffers(3);
  buffers[0].bytes = buffers[2].bytes = first;
  buffers[1].bytes = second;
  Parts parts;
  parts.payload = payload;
  parts.buffers = buffers;
  Bytes sealed(sealed_bound(parts));
  std::size_t at = head_bound(parts) + head_padding(head_bound(parts));
  for (BufferParts& buffer : buffers) {
    compress_buffer(buffer, 3, &sealed[at]);
    at += buffer.bytes.size() + head_padding(buffer.bytes.size());
  }

  const std::uint8_t* end = seal_at(parts, sealed.data());

  sealed.resize(static_cast<std::size_t>(end - sealed.data()));
  const Result<Envelope> envelope = open_whole(sealed);
  ASSERT_TRUE(envelope) << to_string(envelope.error());
  EXPECT_EQ(first_buffer(sealed), first);
  EXPECT_TRUE(std::ranges::equal(envelope->buffers[1].bytes, second));
  EXPECT_TRUE(
      std::ranges::equal(envelope->buffers[0].bytes, envelope->buffers[2].bytes));
}

}  // namespace
}  // namespace waybill
