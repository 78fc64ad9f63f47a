// A buffer is compressed in blocks of 1 MiB, each by itself, so that memory is bounded
// and a part of a buffer can be read alone. Each block is copied first, in the order in
// which it is compressed: others may write to the buffer meanwhile.
//
// Samples, a few places of the buffer, are compressed with each order of bytes, and
// what makes them smallest is taken. Of a large buffer a few whole blocks are tried
// then: what gains nothing costs little.
//
// Tested by tests/format/compression_test.cpp.

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <vector>

#include <zstd.h>
#include <zstd_errors.h>

#include "format/byte_shuffle.h"
#include "waybill/buffers.h"
#include "wire/format.h"

namespace waybill {
namespace {

constexpr std::size_t kBlock = wire::kCompressedBlock;
constexpr int kBlockBits = 20;
static_assert(kBlock == std::size_t{1} << kBlockBits);

constexpr std::size_t kSample = 64 << 10;
constexpr std::size_t kMostSamples = 4;
constexpr int kSampleLevel =
    3;  // At most: the order of bytes is not a matter of level.
// Of so many blocks on, some are tried before all are compressed.
constexpr std::size_t kManyBlocks = 16;
// Another order of bytes has to save this part of a sample, since it takes time to
// read.
constexpr std::size_t kLeastSaving = 16;

class Compressor {
 public:
  Compressor() : context_(ZSTD_createCCtx()) {
    if (!context_) throw std::bad_alloc();
    // A window of a whole block at any level, so that a frame needs no other.
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_windowLog, kBlockBits);
  }

  void set_level(int level) {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  }

  // Writes a block as a frame, and returns its size; 0 if there is no room for it.
  std::size_t write(BytesView block, std::uint8_t item_size,
                    std::span<std::uint8_t> out) {
    block_.resize(block.size());
    if (item_size == 1) {
      std::ranges::copy(block, block_.begin());
    } else {
      envelope::shuffle(block, item_size, block_.data());
    }
    const std::size_t size = ZSTD_compress2(context_.get(), out.data(), out.size(),
                                            block_.data(), block_.size());
    if (ZSTD_isError(size) == 0) return size;
    if (ZSTD_getErrorCode(size) != ZSTD_error_dstSize_tooSmall) throw std::bad_alloc();
    return 0;
  }

  // What all of these become together.
  std::size_t size_of(std::span<const BytesView> samples, std::uint8_t item_size) {
    frame_.resize(ZSTD_compressBound(kBlock));
    std::size_t size = 0;
    for (const BytesView sample : samples) size += write(sample, item_size, frame_);
    return size;
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  std::unique_ptr<ZSTD_CCtx, Free> context_;
  std::vector<std::uint8_t> block_;
  std::vector<std::uint8_t> frame_;
};

// Up to four parts of that size, from the first to the last that fits, at places where
// items start.
std::vector<BytesView> parts_of(BytesView bytes, std::size_t size) {
  if (bytes.size() <= size) return {bytes};
  const std::size_t count = std::min(bytes.size() / size, kMostSamples);
  std::vector<BytesView> parts;
  for (std::size_t i = 0; i < count; ++i) {
    constexpr std::size_t kLargestItem = 16;
    const std::size_t at =
        count == 1 ? 0 : (bytes.size() - size) / (count - 1) * i / kLargestItem;
    parts.push_back(bytes.subspan(at * kLargestItem, size));
  }
  return parts;
}

// Bytes of an item, as far as shape and length tell.
std::uint64_t item_size_of(const BufferParts& buffer) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : buffer.shape) {
    if (extent == 0 || count > buffer.bytes.size() / extent) return 1;
    count *= extent;
  }
  return buffer.shape.empty() ? 1 : buffer.bytes.size() / count;
}

// Orders of bytes that may pay: by the size of items, or, if that is 1 or an odd number
// that may hold others, by those that numbers have.
std::vector<std::uint8_t> item_sizes_to_try(std::uint64_t item_size) {
  if (item_size == 2 || item_size == 4 || item_size == 8 || item_size == 16) {
    return {static_cast<std::uint8_t>(item_size)};
  }
  return {8, 4, 2};
}

std::uint8_t best_item_size(Compressor& compressor, const BufferParts& buffer) {
  const std::vector<BytesView> samples = parts_of(buffer.bytes, kSample);
  std::uint8_t best = 1;
  std::size_t least = compressor.size_of(samples, best);
  for (const std::uint8_t item_size : item_sizes_to_try(item_size_of(buffer))) {
    const std::size_t size = compressor.size_of(samples, item_size);
    if (size + size / kLeastSaving >= least) continue;
    best = item_size;
    least = size;
  }
  return best;
}

// Whether all of a buffer is worth trying.
bool may_gain(Compressor& compressor, BytesView bytes, std::uint8_t item_size) {
  if (bytes.size() < kManyBlocks * kBlock) return true;
  const std::vector<BytesView> blocks = parts_of(bytes, kBlock);
  return compressor.size_of(blocks, item_size) <=
         compression_bound(blocks.size() * kBlock);
}

}  // namespace

std::size_t compress_buffer(BufferParts& buffer, int level, std::uint8_t* out) {
  if (buffer.compression) return 0;
  level = level == 0 ? 1 : std::clamp(level, kFastestLevel, kSmallestLevel);
  const BytesView bytes = buffer.bytes;
  Compressor compressor;
  compressor.set_level(std::min(level, kSampleLevel));
  const std::uint8_t item_size = best_item_size(compressor, buffer);
  if (!may_gain(compressor, bytes, item_size)) return 0;
  compressor.set_level(level);
  const std::span<std::uint8_t> room(out, compression_bound(bytes.size()));
  std::size_t size = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kBlock) {
    const BytesView block = bytes.subspan(at, std::min(kBlock, bytes.size() - at));
    const std::size_t written = compressor.write(block, item_size, room.subspan(size));
    if (written == 0) return 0;
    size += written;
  }
  if (size >= bytes.size()) return 0;  // As small as the least of sizes.
  buffer.length = bytes.size();
  buffer.bytes = room.first(size);
  buffer.compression = Compression{wire::CompressionMethod::kZstd, item_size};
  return size;
}

}  // namespace waybill
