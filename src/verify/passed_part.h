#pragma once

#include <cstddef>
#include <cstdint>

namespace waybill::envelope {

// A container of plain data in a payload that somebody has passed over who accepts
// nothing that PayloadCheck refuses, so that it need not be checked again.
struct PassedPart {
  std::size_t size() const { return end - start; }

  // Offsets in the envelope; no container starts at the first by default.
  std::size_t start = SIZE_MAX;
  std::size_t end = SIZE_MAX;
  // Until its end: objects that references mean, of all of the payload, and distinct
  // numbers of references in the value.
  std::size_t targets = 0;
  std::uint64_t references = 0;
};

}  // namespace waybill::envelope
