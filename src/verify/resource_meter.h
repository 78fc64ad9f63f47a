#pragma once

// Counts what the values of a payload and the constants of its code come to, as
// PayloadCheck passes them: memory, sizes, and how many there are when references are
// followed.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "waybill/buffers.h"
#include "waybill/envelope.h"
#include "waybill/limits.h"
#include "wire/format.h"
#include "wire/reader.h"

namespace waybill::envelope {

// Every function is false when the reader has an error: kLimitExceeded, with the name
// of the ceiling. Not thread-safe; one envelope per meter.
class ResourceMeter {
 public:
  // `targets`: how many values references mean.
  ResourceMeter(const Limits& limits, std::size_t targets);

  // Whether any of the ceilings that it minds is set.
  static bool is_needed(const Limits& limits);

  // A value that holds none.
  bool leaf(wire::Reader& reader, const wire::Token& token);
  // One that holds others, `depth` containers deep: a list, a map, or a node with as
  // many values, and more that a program meets in it.
  bool list(wire::Reader& reader, const wire::Token& token, std::size_t depth);
  bool map(wire::Reader& reader, const wire::Token& token, std::size_t depth);
  bool node(wire::Reader& reader, const wire::Token& token, std::size_t depth,
            wire::NodeTag tag, std::uint64_t values, std::uint64_t more);

  // What a node stands for besides. Each time, since each may become a copy.
  bool stored(wire::Reader& reader, std::size_t offset, const StoredBuffer& buffer);

  // The value that comes next is what references with this number mean. `depth`: open
  // containers around it.
  void start_target(std::uint64_t number, std::size_t depth);
  // No more than `depth` containers are open; what was open deeper is complete.
  void close(std::size_t depth) {
    while (!open_.empty() && open_.back().depth >= depth) close_last();
  }
  bool reference(wire::Reader& reader, std::size_t offset, std::uint64_t number);

 private:
  // A value that references mean and that is not complete.
  struct Open {
    std::uint64_t number;
    std::size_t depth;
    std::uint64_t unfolded_before;
  };

  bool container(wire::Reader& reader, const wire::Token& token, std::uint64_t items,
                 std::size_t depth, std::uint64_t memory, std::uint64_t more = 0);
  bool take(wire::Reader& reader, std::size_t offset, std::uint64_t memory,
            std::uint64_t unfolded);
  void close_last();

  const Limits& limits_;
  std::uint64_t memory_ = 0;
  std::uint64_t unfolded_ = 0;
  std::size_t deepest_ = 0;
  std::vector<Open> open_;
  // What each number means, unfolded; 1 while it is open.
  std::vector<std::uint64_t> sizes_;
};

// How many ints the range has whose start, stop and step are next in `reader`, each an
// int or a reference to one in the payload of `envelope`. 2^64 - 1 for more than that,
// and if one of them has more than 128 bits; 0 for what is no range.
std::uint64_t range_length(wire::Reader reader, const Envelope& envelope);

}  // namespace waybill::envelope
