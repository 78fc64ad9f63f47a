#pragma once

// What envelopes have besides their value, kept by their definitions: a program sends
// the same functions and classes with other data again and again.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "python/discovery/import_collector.h"
#include "python/encode/definitions/definition.h"
#include "python/encode/kept_sections.h"
#include "python/encode/written_objects.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The definitions of a payload as they are written.
struct WrittenDefinitions {
  // Where the numbers in a definition have other sizes than it has them with, what
  // follows stands elsewhere.
  struct Shift {
    std::uint64_t from;  // In the definition.
    std::int64_t by;
  };
  struct Start {
    std::uint64_t position = 0;
    std::vector<Shift> shifts;  // Most have none.
  };

  std::vector<std::uint8_t> bytes;    // All before the value.
  std::vector<std::uint64_t> shared;  // Positions of what references in them mean.
  std::vector<Start> starts;          // Of each definition.

  // Of what stands in a definition.
  std::uint64_t position_of(const Place& place) const;
};

struct KeptHead {
  std::vector<std::shared_ptr<const Definition>> definitions;
  std::vector<std::vector<Place>> needs;  // Of each: where they stand.
  WrittenDefinitions written;
  KeptSections sections;
  SeenWorld seen;
};

// The last heads. Used under the interpreter's lock.
class KeptHeads {
 public:
  // The head that `is_it` tells, which gets one after the other; null if none is kept,
  // or if what it depends on has changed.
  template <typename IsIt>
  std::shared_ptr<const KeptHead> find(const State& state, IsIt is_it) {
    const auto found = std::ranges::find_if(heads_, is_it);
    return found == heads_.end() ? nullptr : take(state, found);
  }
  void keep(KeptHead head);

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostBytes = 32 << 10;  // Of one.

  using Heads = std::vector<std::shared_ptr<const KeptHead>>;
  std::shared_ptr<const KeptHead> take(const State& state, Heads::iterator found);

  Heads heads_;  // The last one first.
};

}  // namespace waybill::py
