// Compressed buffers that are not what their rows say.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/fails.h"
#include "format/compressed_samples.h"
#include "waybill/signature.h"

namespace waybill {
namespace {

using samples::Bytes;
using samples::first_buffer;
using samples::frame_of;
using samples::with_stored;

constexpr std::size_t kBlockSize = wire::kCompressedBlock;

void expect_malformed(const Bytes& envelope, std::size_t offset,
                      std::string_view word) {
  const Result<Bytes> content = first_buffer(envelope);
  ASSERT_FALSE(content) << word;
  EXPECT_EQ(content.error().code, ErrorCode::kMalformed) << to_string(content.error());
  const std::size_t start = open(envelope)->buffers_offset;
  EXPECT_EQ(content.error().offset, start + offset) << word;
  EXPECT_NE(content.error().detail.find(word), std::string::npos)
      << content.error().detail;
}

Bytes joined(const Bytes& first, const Bytes& second) {
  Bytes both = first;
  both.insert(both.end(), second.begin(), second.end());
  return both;
}

TEST(CompressionAttacks, EachByteFlippedIsAnError) {
  const Bytes block = samples::rising(3000, 1);
  const Bytes sealed = with_stored(frame_of(block), block.size());
  ASSERT_EQ(first_buffer(sealed), block);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    for (const int bit : {0, 3, 7}) {
      Bytes altered = sealed;
      altered[i] ^= static_cast<std::uint8_t>(1 << bit);

      const Result<Bytes> content = first_buffer(altered);

      ASSERT_FALSE(content) << i;
      EXPECT_LE(content.error().offset, sealed.size());
    }
  }
}

// The digest is right: whoever alters the bytes can make it so.
TEST(CompressionAttacks, EachByteOfFramesFlippedIsAnErrorOrOtherBytes) {
  const Bytes block = samples::rising(3000, 1);
  const Bytes frame = frame_of(block);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes altered = frame;
      altered[i] ^= static_cast<std::uint8_t>(1 << bit);
      const Bytes sealed = with_stored(altered, block.size());

      const Result<Bytes> content = first_buffer(sealed);

      if (content) {
        EXPECT_EQ(content->size(), block.size());
      } else {
        EXPECT_EQ(content.error().code, ErrorCode::kMalformed);
        EXPECT_LE(content.error().offset, sealed.size());
      }
    }
  }
}

TEST(CompressionAttacks, EachCutIsAnError) {
  const Bytes block = samples::rising(3000, 1);
  const Bytes frame = frame_of(block);
  for (std::size_t size = 1; size < frame.size(); ++size) {
    const Bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(first_buffer(with_stored(cut, block.size())));
  }
  const Bytes sealed = with_stored(frame, block.size());
  for (std::size_t size = 0; size < sealed.size(); ++size) {
    const Bytes cut(sealed.begin(), sealed.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(first_buffer(cut));
  }
}

TEST(CompressionAttacks, LengthsHaveToBeThoseOfTheFrames) {
  const Bytes frame = frame_of(samples::rising(3000, 1));

  expect_malformed(with_stored(frame, 3001), 0, "size of its block");
  expect_malformed(with_stored(frame, 2999), 0, "size of its block");
  expect_malformed(with_stored(frame, kBlockSize + 3000), 0, "size of its block");
}

TEST(CompressionAttacks, BlocksHaveOneSize) {
  const Bytes half = frame_of(Bytes(kBlockSize / 2));
  const Bytes large = frame_of(Bytes(2 * kBlockSize));

  expect_malformed(with_stored(joined(half, half), kBlockSize), 0, "size of its block");
  expect_malformed(with_stored(large, 2 * kBlockSize), 0, "size of its block");
}

TEST(CompressionAttacks, FramesEndWithTheBuffer) {
  const Bytes frame = frame_of(Bytes(3000));

  expect_malformed(with_stored(joined(frame, frame), 3000), frame.size(),
                   "follow the last block");
  expect_malformed(with_stored(joined(frame, {0}), 3000), frame.size(),
                   "follow the last block");
  const Bytes whole = frame_of(Bytes(kBlockSize));
  expect_malformed(with_stored(whole, kBlockSize + 5), whole.size(), "zstd frame");
}

TEST(CompressionAttacks, FramesThatArePassedOverAreRefused) {
  const Bytes skipped = {0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4};

  expect_malformed(with_stored(joined(skipped, frame_of(Bytes(3000))), 3000), 0,
                   "size of its block");
}

TEST(CompressionAttacks, FramesOfOldFormatsAreRefused) {
  for (const std::uint8_t version : Bytes{0x22, 0x23, 0x24, 0x25, 0x26, 0x27}) {
    Bytes frame = frame_of(Bytes(3000));
    frame[0] = version;
    frame[1] = 0xb5;
    EXPECT_FALSE(first_buffer(with_stored(frame, 3000)));
  }
}

// A window of 8 MiB, as an encoder asks for that does not know the size of its input.
TEST(CompressionAttacks, FramesWithAWindowOfTheirOwnAreRefused) {
  const Bytes zeros(3000);
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 23);
  Bytes frame(1000);
  ZSTD_inBuffer in{zeros.data(), zeros.size(), 0};
  ZSTD_outBuffer out{frame.data(), frame.size(), 0};
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush);
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
  ZSTD_freeCCtx(context);
  frame.resize(out.pos);

  expect_malformed(with_stored(frame, 3000), 0, "size of its block");
}

TEST(CompressionAttacks, FramesWithAChecksumAreRefused) {
  const Bytes zeros(3000);
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  Bytes frame(1000);
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), zeros.data(), 3000));
  ZSTD_freeCCtx(context);

  expect_malformed(with_stored(frame, 3000), 0, "checksum");
}

TEST(CompressionAttacks, DigestsAreComparedBeforeAnythingIsDecompressed) {
  const SigningKey key = SigningKey::generate(SignatureAlgorithm::kMac);
  for (const SigningKey* each : {static_cast<const SigningKey*>(nullptr), &key}) {
    const Bytes sealed = with_stored(frame_of(Bytes(3000)), 3000, 1, each);
    Envelope envelope = *open(sealed);
    const StoredBuffer& row = envelope.buffers[0];
    Bytes altered(row.bytes.begin(), row.bytes.end());
    altered[altered.size() - 1] ^= 1;
    Bytes content(3000, 7);

    EXPECT_THAT(decompress_buffer(row, altered, 99, content),
                Fails(ErrorCode::kDigestMismatch, 99u));
    EXPECT_EQ(content, Bytes(3000, 7));
  }
}

// What a gigabyte of zeros is like.
TEST(CompressionAttacks, LimitsCountWhatIsDecompressed) {
  const Bytes block = frame_of(Bytes(kBlockSize));
  Bytes frames;
  for (int i = 0; i < 64; ++i) frames = joined(frames, block);
  const Bytes sealed = with_stored(frames, 64 * kBlockSize);
  ASSERT_LT(sealed.size(), 10'000u);

  EXPECT_THAT(open(sealed, {.max_bytes = 64 * kBlockSize}),
              Fails(ErrorCode::kLimitExceeded));
  EXPECT_TRUE(open(sealed, {.max_bytes = 64 * kBlockSize + sealed.size()}));
  EXPECT_EQ(verify(*open(sealed), {.max_memory = 64 * kBlockSize}).error().code,
            ErrorCode::kLimitExceeded);
  EXPECT_EQ(verify(*open(sealed), {.max_text = 64 * kBlockSize - 1}).error().code,
            ErrorCode::kLimitExceeded);
  EXPECT_TRUE(verify(*open(sealed), {.max_text = 64 * kBlockSize}));
}

}  // namespace
}  // namespace waybill
