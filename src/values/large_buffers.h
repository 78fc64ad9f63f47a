#pragma once

// The buffers of a value that are so large that they stand behind the payload, in the
// order in which the payload names them. They stay where they are until then.

#include <span>
#include <vector>

#include "format/buffer_table.h"
#include "wire/writer.h"

namespace waybill::envelope {

class LargeBuffers {
 public:
  static bool takes(BytesView bytes) { return bytes.size() >= kLeastStored; }

  // Writes what stands for the buffer in the payload.
  void add(const BufferParts& row, wire::Writer& out) {
    out.node(wire::NodeTag::kStored, 1);
    out.unsigned_integer(rows_.size());
    rows_.push_back(row);
  }

  std::span<const BufferParts> rows() const { return rows_; }

 private:
  std::vector<BufferParts> rows_;
};

}  // namespace waybill::envelope
