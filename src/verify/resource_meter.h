#pragma once

// Counts the values of a payload and of the constants of its code as PayloadCheck reads
// them: their memory, their sizes, and their number with each reference unfolded.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "waybill/buffers.h"
#include "waybill/envelope.h"
#include "waybill/limits.h"
#include "wire/format.h"
#include "wire/reader.h"

namespace waybill::envelope {

// Functions return false with an error in the reader: kLimitExceeded, with the name of
// the limit. Not thread-safe; one envelope per meter.
class ResourceMeter {
 public:
  // `targets`: the number of reference targets.
  ResourceMeter(const Limits& limits, std::size_t targets);

  // Whether any limit is set that the meter enforces.
  static bool is_needed(const Limits& limits);

  // Counts a value that is not a container.
  bool add_leaf(wire::Reader& reader, const wire::Token& token);
  // Counts a container `depth` levels deep: a map, a list (`tag` is 0), or a node,
  // which unfolds to `more` further values. `count`: its pairs, items or values.
  bool add_container(wire::Reader& reader, const wire::Token& token, std::uint8_t tag,
                     std::uint64_t count, std::size_t depth, std::uint64_t more = 0);

  // Counts a stored buffer for each use, since each use may become a copy.
  bool add_stored(wire::Reader& reader, std::size_t offset, const StoredBuffer& buffer);

  // The next value is the target of references with this number, `depth` containers
  // deep.
  void start_target(std::uint64_t number, std::size_t depth);
  // Completes the targets that are deeper than `depth` open containers.
  void close_targets(std::size_t depth) {
    while (!open_targets_.empty() && open_targets_.back().depth >= depth)
      close_last_target();
  }
  bool add_reference(wire::Reader& reader, std::size_t offset, std::uint64_t number);

 private:
  // A reference target that is not complete.
  struct OpenTarget {
    std::uint64_t number;
    std::size_t depth;
    std::uint64_t unfolded_before;
  };

  bool charge(wire::Reader& reader, std::size_t offset, std::uint64_t memory,
              std::uint64_t unfolded);
  void close_last_target();

  const Limits& limits_;
  std::uint64_t memory_ = 0;
  std::uint64_t unfolded_ = 0;
  std::size_t max_depth_ = 0;
  std::vector<OpenTarget> open_targets_;
  // The unfolded size of each target; 1 while it is open.
  std::vector<std::uint64_t> sizes_;
};

// The length of a range whose start, stop and step are next in `reader`, each an int or
// a reference to one in the payload of `envelope`. 2^64 - 1 if it is larger or one of
// the ints has more than 128 bits; 0 if the range is invalid.
std::uint64_t range_length(wire::Reader reader, const Envelope& envelope);

}  // namespace waybill::envelope
