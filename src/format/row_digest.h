#pragma once

// The digest of a stored buffer, made of bytes that come one part after the other.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/hash.h"
#include "base/strong_hash.h"
#include "waybill/buffers.h"

namespace waybill::envelope {

class BufferDigest {
 public:
  // Of so many bytes: those of XXH3, or kStrongDigest.
  explicit BufferDigest(std::size_t size);

  void add(BytesView bytes) { strong_ ? strong_->add(bytes) : plain_.add(bytes); }
  // Writes it. More may be added after that.
  void write(std::uint8_t* at) const;

 private:
  base::DigestStream plain_;
  std::optional<base::StrongHashStream> strong_;
};

// The same, to be compared.
class RowDigest {
 public:
  // `row` must outlive this.
  explicit RowDigest(const StoredBuffer& row) : row_(row), digest_(row.digest.size()) {}

  void add(BytesView bytes) { digest_.add(bytes); }
  // Whether it is that of the row.
  bool fits() const;

 private:
  const StoredBuffer& row_;
  BufferDigest digest_;
};

}  // namespace waybill::envelope
