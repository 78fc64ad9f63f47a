// Tells how much of a stream belongs to one envelope without knowing its length before:
// every value that is still to come takes a byte at least.
// Tested by tests/envelope/measure_test.cpp.

#include "waybill/envelope.h"
#include "wire/lead.h"

namespace waybill {

Extent measure(BytesView bytes) {
  std::uint64_t position = 0;
  std::uint64_t pending = 1;
  const auto missing = [&](std::uint64_t end) {
    return Extent{0, static_cast<std::size_t>(end - bytes.size() + pending)};
  };
  while (pending != 0) {
    if (position >= bytes.size()) return missing(position);
    // What is invalid counts as one byte: open() refuses it.
    const wire::Lead& lead = wire::kLeads[bytes[position]];
    const std::uint64_t end = position + lead.head;
    --pending;
    if (end > bytes.size()) return missing(end);
    const std::uint64_t count = wire::length_of(lead, bytes.data() + position);
    position = end;
    if (lead.counts == wire::Counts::kBytes) position += count;
    if (lead.counts == wire::Counts::kItems) pending += count;
    if (lead.counts == wire::Counts::kPairs) pending += 2 * count;
  }
  if (position > bytes.size()) return missing(position);
  return {static_cast<std::size_t>(position), 0};
}

}  // namespace waybill
