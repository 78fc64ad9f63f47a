// Tested by tests/format/buffers_test.cpp and compression_test.cpp.

#include "format/row_digest.h"

#include <algorithm>
#include <array>

#include "format/buffer_table.h"
#include "waybill/envelope.h"

namespace waybill {
namespace envelope {

BufferDigest::BufferDigest(std::size_t size) {
  if (size == kStrongDigest) strong_.emplace();
}

void BufferDigest::write(std::uint8_t* at) const {
  if (!strong_) {
    std::ranges::copy(plain_.digest(), at);
    return;
  }
  base::StrongHashStream whole = *strong_;  // To ask for it is its end.
  std::ranges::copy(whole.hash(), at);
}

bool RowDigest::fits() const {
  std::array<std::uint8_t, kStrongDigest> made;
  digest_.write(made.data());
  return std::ranges::equal(BytesView(made).first(row_.digest.size()), row_.digest);
}

}  // namespace envelope

Result<void> check_buffer(const StoredBuffer& row, BytesView bytes,
                          std::uint64_t offset,
                          const std::function<void(std::uint64_t)>& progress) {
  constexpr std::size_t kPart = 16 << 20;
  envelope::RowDigest digest(row);
  bool fits = bytes.size() == row.stored_length;
  for (std::size_t at = 0; fits && at < bytes.size();) {
    const std::size_t size = std::min(bytes.size() - at, kPart);
    digest.add(bytes.subspan(at, size));
    at += size;
    if (progress) progress(at);
  }
  fits = fits && digest.fits();
  if (fits) return {};
  return tl::unexpected(Error{ErrorCode::kDigestMismatch,
                              static_cast<std::size_t>(offset),
                              "the bytes of a stored buffer are not those that were "
                              "sealed; send them again"});
}

Result<void> check_buffers(const Envelope& envelope,
                           const std::function<void(std::uint64_t)>& progress) {
  for (const StoredBuffer& row : envelope.buffers) {
    const std::uint64_t offset = envelope.buffers_offset + row.place;
    std::function<void(std::uint64_t)> show;
    if (progress) show = [&](std::uint64_t done) { progress(offset + done); };
    Result<void> checked = check_buffer(row, row.bytes, offset, show);
    if (!checked) return checked;
  }
  return {};
}

}  // namespace waybill
