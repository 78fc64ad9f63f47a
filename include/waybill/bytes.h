#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace waybill {

// Bytes that somebody else owns and that must outlive the view.
using BytesView = std::span<const std::uint8_t>;

// Bytes that belong between others, before those at `offset`, and are not copied there.
struct Insertion {
  std::size_t offset;
  BytesView bytes;
};

}  // namespace waybill
