// A buffer is compressed in independent blocks of 1 MiB, so that memory is bounded and
// a part of a buffer can be read alone. Each block is copied first, in the byte order
// in which it is compressed: another thread may write to the buffer meanwhile.
//
// Samples from a few places of the buffer are compressed with each byte order, and the
// smallest result decides. Of a large buffer a few whole blocks are tried next, so that
// a buffer that gains nothing costs little.
//
// Frames have one form: that of zstd's own encoder when it knows the size of its input,
// without dictionary and checksum. So no frame asks for a window of its own, none is a
// skippable frame, and none has a format before 1.0, which libzstd may read too.
//
// Tested by tests/format/compression_test.cpp and compression_attacks_test.cpp; the
// field by buffer_table_test.cpp.

#include "format/compression.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>

#include <zstd.h>
#include <zstd_errors.h>

#include "wire/format.h"

namespace waybill {
namespace {

using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::size_t kBlock = wire::kCompressedBlock;
constexpr int kBlockBits = 20;
static_assert(kBlock == std::size_t{1} << kBlockBits);

constexpr std::size_t kMaxItemSize = 16;
constexpr std::size_t kMaxFrame = ZSTD_COMPRESSBOUND(kBlock);

constexpr std::size_t kSample = 64 << 10;
constexpr std::size_t kMaxSamples = 4;
// The highest level for samples: the best byte order does not depend on the level.
constexpr int kSampleLevel = 3;
// From this many blocks on, a few are tried before all are compressed.
constexpr std::size_t kManyBlocks = 16;
// Another byte order has to save a sixteenth of a sample, since undoing it takes time.
constexpr std::size_t kMinSavingDivisor = 16;

class Compressor {
 public:
  Compressor() : context_(ZSTD_createCCtx()) {
    if (!context_) throw std::bad_alloc();
    // A window of a whole block at any level: a frame never needs a larger one.
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_windowLog, kBlockBits);
  }

  void set_level(int level) {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  }

  // Writes a block as a frame, and returns its size; 0 if `out` is too small.
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

  // The compressed size of all samples.
  std::size_t size_of(std::span<const BytesView> samples, std::uint8_t item_size) {
    frame_.resize(ZSTD_compressBound(kBlock));
    std::size_t size = 0;
    for (const BytesView sample : samples) size += write(sample, item_size, frame_);
    return size;
  }

 private:
  struct ContextDeleter {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  std::unique_ptr<ZSTD_CCtx, ContextDeleter> context_;
  std::vector<std::uint8_t> block_;
  std::vector<std::uint8_t> frame_;
};

// Up to four parts of this size, spread over the buffer, each at the start of an item.
std::vector<BytesView> parts_of(BytesView bytes, std::size_t size) {
  if (bytes.size() <= size) return {bytes};
  const std::size_t count = std::min(bytes.size() / size, kMaxSamples);
  std::vector<BytesView> parts;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at =
        count == 1 ? 0 : (bytes.size() - size) / (count - 1) * i / kMaxItemSize;
    parts.push_back(bytes.subspan(at * kMaxItemSize, size));
  }
  return parts;
}

// The size of an item by shape and length; 1 if they do not agree.
std::uint64_t item_size_of(const BufferParts& buffer) {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : buffer.shape) {
    if (extent == 0 || count > buffer.bytes.size() / extent) return 1;
    count *= extent;
  }
  return buffer.shape.empty() ? 1 : buffer.bytes.size() / count;
}

// The item sizes to try: that of the buffer or, if numbers do not have this size, the
// usual sizes of numbers.
std::vector<std::uint8_t> item_sizes_to_try(std::uint64_t item_size) {
  if (item_size == 2 || item_size == 4 || item_size == 8 || item_size == 16) {
    return {static_cast<std::uint8_t>(item_size)};
  }
  return {8, 4, 2};
}

std::uint8_t best_item_size(Compressor& compressor, const BufferParts& buffer) {
  const std::vector<BytesView> samples = parts_of(buffer.bytes, kSample);
  std::uint8_t best = 1;
  std::size_t best_size = compressor.size_of(samples, best);
  for (const std::uint8_t item_size : item_sizes_to_try(item_size_of(buffer))) {
    const std::size_t size = compressor.size_of(samples, item_size);
    if (size + size / kMinSavingDivisor >= best_size) continue;
    best = item_size;
    best_size = size;
  }
  return best;
}

// Whether compressing all of the buffer is worth trying.
bool can_gain(Compressor& compressor, BytesView bytes, std::uint8_t item_size) {
  if (bytes.size() < kManyBlocks * kBlock) return true;
  const std::vector<BytesView> blocks = parts_of(bytes, kBlock);
  return compressor.size_of(blocks, item_size) <=
         compression_bound(blocks.size() * kBlock);
}

// `row.length` bounds the stored length, and thus the end of the buffer.
bool read_stored_length(Reader& reader, StoredBuffer& row) {
  const std::size_t offset = reader.offset();
  if (!reader.read_unsigned(row.stored_length, UINT64_MAX,
                            "the stored length of a compressed buffer")) {
    return false;
  }
  if (row.stored_length == 0 || row.stored_length >= row.length) {
    return reader.fail(ErrorCode::kMalformed, offset,
                       "a compressed buffer should have at least one byte, and "
                       "fewer than its content");
  }
  return row.length / wire::kMaxExpansion <= row.stored_length ||
         reader.fail(ErrorCode::kMalformed, offset,
                     "a compressed buffer of " + std::to_string(row.stored_length) +
                         " bytes cannot be decompressed to " +
                         std::to_string(row.length));
}

bool read_item_size(Reader& reader, std::uint8_t& item_size) {
  const std::size_t offset = reader.offset();
  std::uint64_t number = 0;
  if (!reader.read_unsigned(number, UINT64_MAX, "the item size of a compression")) {
    return false;
  }
  item_size = static_cast<std::uint8_t>(number);
  return (std::has_single_bit(number) && number <= kMaxItemSize) ||
         reader.fail(ErrorCode::kMalformed, offset,
                     "the item size of a compression should be 1, 2, 4, 8 or 16");
}

}  // namespace

std::size_t compress_buffer(BufferParts& buffer, int level, std::uint8_t* out) {
  if (buffer.compression) return 0;
  level = level == 0 ? 1 : std::clamp(level, kFastestLevel, kSmallestLevel);
  const BytesView bytes = buffer.bytes;
  Compressor compressor;
  compressor.set_level(std::min(level, kSampleLevel));
  const std::uint8_t item_size = best_item_size(compressor, buffer);
  if (!can_gain(compressor, bytes, item_size)) return 0;
  compressor.set_level(level);
  const std::span<std::uint8_t> room(out, compression_bound(bytes.size()));
  std::size_t size = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kBlock) {
    const BytesView block = bytes.subspan(at, std::min(kBlock, bytes.size() - at));
    const std::size_t written = compressor.write(block, item_size, room.subspan(size));
    if (written == 0) return 0;
    size += written;
  }
  if (size >= bytes.size()) return 0;  // Only for tiny buffers.
  buffer.length = bytes.size();
  buffer.bytes = room.first(size);
  buffer.compression = Compression{wire::CompressionMethod::kZstd, item_size};
  return size;
}

namespace envelope {

bool is_frame_start(BytesView frame, std::size_t content_size) {
  constexpr std::uint8_t kMagic[] = {0x28, 0xb5, 0x2f, 0xfd};
  // The bits of the descriptor, except the width of the content size.
  constexpr std::uint8_t kFlags = 0x3f;
  constexpr std::uint8_t kSingleSegment = 0x20;
  return frame.size() > sizeof kMagic && std::ranges::equal(frame.first(4), kMagic) &&
         (frame[4] & kFlags) == kSingleSegment &&
         ZSTD_getFrameContentSize(frame.data(), frame.size()) == content_size;
}

void CompressedBlocks::ContextDeleter::operator()(ZSTD_DCtx_s* context) const {
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
  frame_.reserve(std::min(kMaxFrame, bytes.size()));
  if (row.compression->item_size != 1) {
    shuffled_.resize(std::min<std::uint64_t>(row.length, kBlock));
  }
}

Result<void> CompressedBlocks::next(std::span<std::uint8_t> out) {
  const BytesView rest = bytes_.subspan(at_);
  const std::size_t size = ZSTD_findFrameCompressedSize(rest.data(), rest.size());
  if (ZSTD_isError(size) != 0 || size > kMaxFrame) {
    return fail("a zstd frame should start here");
  }
  frame_.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
  if (!is_frame_start(frame_, out.size())) {
    return fail(
        "a zstd frame should contain the size of its block, and have neither "
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

bool read_compression(Reader& reader, StoredBuffer& row) {
  row.stored_length = row.length;
  Token token;
  if (!reader.next(token)) return false;
  if (token.type == TokenType::kNil) return true;
  std::uint64_t method = 0;
  const bool has_method = token.type == TokenType::kArray && token.count != 0;
  if (has_method && !reader.read_unsigned(method, UINT64_MAX, "a compression method")) {
    return false;
  }
  if (method != static_cast<std::uint64_t>(wire::CompressionMethod::kZstd)) {
    return reader.fail(ErrorCode::kUnknownTag, token.offset,
                       "the compression of a stored buffer is unknown; read it with a "
                       "newer waybill");
  }
  if (token.count != wire::kCompressionFieldCount) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       "the compression of a stored buffer should have three fields");
  }
  Compression& compression = row.compression.emplace();
  compression.method = wire::CompressionMethod::kZstd;
  return read_stored_length(reader, row) &&
         read_item_size(reader, compression.item_size);
}

void write_compression(wire::CursorWriter& writer, const BufferParts& buffer) {
  if (!buffer.compression) return writer.nil();
  writer.array(wire::kCompressionFieldCount);
  writer.unsigned_integer(static_cast<std::uint64_t>(buffer.compression->method));
  writer.unsigned_integer(buffer.bytes.size());
  writer.unsigned_integer(buffer.compression->item_size);
}

}  // namespace envelope

Result<void> decompress_buffer(const StoredBuffer& row, BytesView bytes,
                               std::uint64_t offset, std::span<std::uint8_t> out) {
  if (!row.compression || out.size() != row.length) {
    return tl::unexpected(Error{ErrorCode::kMalformed, static_cast<std::size_t>(offset),
                                "the buffer should be compressed, and the output as "
                                "large as its content"});
  }
  Result<void> done = check_buffer(row, bytes, offset);
  if (!done) return done;
  envelope::CompressedBlocks blocks(row, bytes, offset);
  for (std::size_t at = 0; at < out.size() && done;) {
    const std::size_t size = std::min<std::size_t>(out.size() - at, kBlock);
    done = blocks.next(out.subspan(at, size));
    at += size;
  }
  return done ? blocks.finish() : done;
}

}  // namespace waybill
