// A frame has one form here: that of zstd's own encoder when it knows the size of its
// input, without dictionary and checksum. So no frame asks for a window of its own,
// none is passed over, and none is of the formats before 1.0 that libzstd may read as
// well.
//
// Tested by tests/format/compression_test.cpp and compression_attacks_test.cpp.

#include "format/compressed_blocks.h"

#include <algorithm>
#include <new>

#include <zstd.h>
#include <zstd_errors.h>

#include "format/byte_shuffle.h"
#include "wire/format.h"

namespace waybill {
namespace envelope {
namespace {

constexpr std::size_t kMostFrame = ZSTD_COMPRESSBOUND(wire::kCompressedBlock);

}  // namespace

bool is_frame_start(BytesView frame, std::size_t content_size) {
  constexpr std::uint8_t kMagic[] = {0x28, 0xb5, 0x2f, 0xfd};
  // Of the descriptor: all but how long the size of the content is.
  constexpr std::uint8_t kFlags = 0x3f;
  constexpr std::uint8_t kSingleSegment = 0x20;
  return frame.size() > sizeof kMagic && std::ranges::equal(frame.first(4), kMagic) &&
         (frame[4] & kFlags) == kSingleSegment &&
         ZSTD_getFrameContentSize(frame.data(), frame.size()) == content_size;
}

void CompressedBlocks::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

CompressedBlocks::CompressedBlocks(const StoredBuffer& row, BytesView bytes,
                                   std::uint64_t offset)
    : row_(row),
      bytes_(bytes),
      offset_(offset),
      context_(ZSTD_createDCtx()),
      digest_(row) {
  if (!context_) throw std::bad_alloc();
  frame_.reserve(std::min(kMostFrame, bytes.size()));
  if (row.compression->item_size != 1) {
    shuffled_.resize(std::min<std::uint64_t>(row.length, wire::kCompressedBlock));
  }
}

Result<void> CompressedBlocks::next(std::span<std::uint8_t> out) {
  const BytesView rest = bytes_.subspan(at_);
  const std::size_t size = ZSTD_findFrameCompressedSize(rest.data(), rest.size());
  if (ZSTD_isError(size) != 0 || size > kMostFrame) {
    return fail("here should be a zstd frame");
  }
  frame_.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
  if (!is_frame_start(frame_, out.size())) {
    return fail(
        "a zstd frame should tell the size of its block, and have neither "
        "dictionary nor checksum");
  }
  digest_.add(frame_);
  std::uint8_t* const target = shuffled_.empty() ? out.data() : shuffled_.data();
  const std::size_t written = ZSTD_decompressDCtx(context_.get(), target, out.size(),
                                                  frame_.data(), frame_.size());
  if (ZSTD_getErrorCode(written) == ZSTD_error_memory_allocation) {
    throw std::bad_alloc();
  }
  if (written != out.size()) return fail("a zstd frame is damaged");
  if (!shuffled_.empty()) {
    unshuffle({shuffled_.data(), out.size()}, row_.compression->item_size, out.data());
  }
  at_ += size;
  return {};
}

Result<void> CompressedBlocks::finish() {
  if (at_ != bytes_.size()) {
    return fail("bytes follow the last block of a compressed buffer");
  }
  if (digest_.fits()) return {};
  return tl::unexpected(Error{ErrorCode::kDigestMismatch,
                              static_cast<std::size_t>(offset_),
                              "the bytes of a stored buffer have changed while they "
                              "were decompressed"});
}

Result<void> CompressedBlocks::fail(const char* detail) const {
  return tl::unexpected(
      Error{ErrorCode::kMalformed, static_cast<std::size_t>(offset_ + at_), detail});
}

}  // namespace envelope

Result<void> decompress_buffer(const StoredBuffer& row, BytesView bytes,
                               std::uint64_t offset, std::span<std::uint8_t> out) {
  if (!row.compression || out.size() != row.length) {
    return tl::unexpected(Error{ErrorCode::kMalformed, static_cast<std::size_t>(offset),
                                "a compressed buffer and room for all of it belong "
                                "together"});
  }
  Result<void> done = check_buffer(row, bytes, offset);
  if (!done) return done;
  envelope::CompressedBlocks blocks(row, bytes, offset);
  for (std::size_t at = 0; at < out.size() && done;) {
    const std::size_t size =
        std::min<std::size_t>(out.size() - at, wire::kCompressedBlock);
    done = blocks.next(out.subspan(at, size));
    at += size;
  }
  return done ? blocks.finish() : done;
}

}  // namespace waybill
