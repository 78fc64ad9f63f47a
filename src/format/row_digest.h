#pragma once

// The digest of a stored buffer, made of bytes that come one part after the other.

#include <optional>

#include "base/hash.h"
#include "base/strong_hash.h"
#include "waybill/buffers.h"

namespace waybill::envelope {

class RowDigest {
 public:
  // `row` must outlive this.
  explicit RowDigest(const StoredBuffer& row);

  void add(BytesView bytes);
  // Whether it is that of the row.
  bool fits() const;

 private:
  const StoredBuffer& row_;
  base::DigestStream plain_;
  std::optional<base::StrongHashStream> strong_;
};

}  // namespace waybill::envelope
