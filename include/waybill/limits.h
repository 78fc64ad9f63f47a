#pragma once

#include <cstddef>
#include <cstdint>

namespace waybill {

// Ceilings for input that may be hostile. A count in the input is compared with
// the bytes that are left before anything is reserved, whatever the ceilings.
struct Limits {
  // Bytes of one envelope. Stops a sender from filling memory with input alone.
  std::size_t max_bytes = std::size_t{4} << 30;

  // Values in one envelope, each key and item counted. A value may cost a byte on
  // the wire and a hundred as an object: this bounds the ratio.
  std::size_t max_values = std::size_t{1} << 31;

  // Containers inside containers. Nothing here recurses, so depth costs heap, not
  // stack; the ceiling stops input that is all opening brackets.
  std::size_t max_depth = std::size_t{1} << 26;

  friend bool operator==(const Limits&, const Limits&) = default;
};

}  // namespace waybill
