// Tested by tests/format/buffer_table_test.cpp.

#include "format/compression_field.h"

#include <bit>
#include <string>

#include "wire/format.h"

namespace waybill::envelope {
namespace {

using wire::Reader;
using wire::Token;
using wire::TokenType;

constexpr std::uint64_t kMostItemSize = 16;

// `row.length` bounds the stored length, and so the end of the buffer.
bool read_stored_length(Reader& reader, StoredBuffer& row) {
  const std::size_t offset = reader.offset();
  if (!reader.read_unsigned(row.stored_length, UINT64_MAX,
                            "the stored length of a compressed buffer")) {
    return false;
  }
  if (row.stored_length == 0 || row.stored_length >= row.length) {
    return reader.fail(ErrorCode::kMalformed, offset,
                       "a compressed buffer has one byte or more, and fewer than it is "
                       "decompressed to");
  }
  return row.length / wire::kMostExpansion <= row.stored_length ||
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
  return (std::has_single_bit(number) && number <= kMostItemSize) ||
         reader.fail(ErrorCode::kMalformed, offset,
                     "the item size of a compression is 1, 2, 4, 8 or 16");
}

}  // namespace

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
                       "the compression of a stored buffer is unknown; a newer waybill "
                       "wrote it");
  }
  if (token.count != wire::kCompressionFieldCount) {
    return reader.fail(ErrorCode::kMalformed, token.offset,
                       "the compression of a stored buffer has three fields");
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

}  // namespace waybill::envelope
