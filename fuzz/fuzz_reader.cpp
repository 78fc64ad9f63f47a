// Arbitrary bytes as msgpack: skip() and next() accept the same values, with the same
// end, and errors lie at an offset in the input.

#include <cstdint>

#include "require.h"
#include "wire/reader.h"

using waybill::BytesView;
using waybill::fuzz::require;
using waybill::wire::Reader;
using waybill::wire::Token;
using waybill::wire::TokenType;

namespace {

// Reads one value by next() alone. `pending` cannot overflow, since the reader bounds
// each count by the rest of the input.
bool read_value(Reader& reader) {
  std::uint64_t pending = 1;
  while (pending != 0) {
    Token token;
    if (!reader.next(token)) return false;
    --pending;
    if (token.type == TokenType::kArray) pending += token.count;
    if (token.type == TokenType::kMap) pending += token.count * 2;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView bytes(data, size);
  Reader skipping(bytes);
  Reader reading(bytes);
  for (;;) {
    const bool skipped = skipping.skip();
    require(skipped == read_value(reading));
    if (!skipped) break;
    require(skipping.offset() == reading.offset());
  }
  require(skipping.error().offset <= size && reading.error().offset <= size);
  return 0;
}
