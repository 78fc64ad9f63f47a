#pragma once

// Bounds the time for keys and set items: hashing is slow if tuples share parts, and
// insertion if hashes collide and comparisons are slow. Nothing else makes plain data
// cost more than its size. Python itself has no such bound.

#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "python/runtime/ref.h"
#include "waybill/limits.h"

namespace waybill::py {

// The limit of nested tuples in a dict key or set item: hash() recurses on the C stack,
// which input must not exhaust. (A frozenset stores the hashes of its items.)
inline constexpr std::uint32_t kMaxHashDepth = 1000;

// The cost of hashing a value that does not store its hash: a tuple, slice or big
// integer. Other values cost nothing. Saturates.
struct HashCost {
  static constexpr std::uint64_t kMaxSteps = std::uint64_t{1} << 62;

  std::uint32_t depth = 0;
  std::uint64_t steps = 0;

  // Adds the cost of one item of a container. Most items have none.
  void add(const HashCost& item) {
    if (item.depth == 0 && item.steps == 0) return;
    depth = std::max(depth, item.depth);
    steps = std::min(steps + item.steps, kMaxSteps);
  }
  // If this is the cost of all `count` items: the cost of the tuple, slice or range
  // that is hashed through them.
  HashCost of_container(std::uint64_t count) const {
    return {depth + 1, std::min(steps + count, kMaxSteps)};
  }
};

// This many steps of each key are not counted. Ordinary keys take fewer: up to about
// 200, for multiples of large powers of two in a set.
inline constexpr std::uint64_t kFreeSteps = 256;
inline std::uint64_t charged_steps(std::uint64_t steps) {
  return steps - std::min(steps, kFreeSteps);
}

// Counts the steps of inserting keys into one dict or set, in a table with the layout
// and probing of CPython. Text and bytes are not counted: senders cannot choose their
// hashes.
class KeyProbes {
 public:
  enum class Kind : std::uint8_t { kDict, kSet };

  // `announced`: the number of keys for which a dict is presized.
  KeyProbes(Kind kind, std::uint64_t announced);

  // Inserts a key unless an equal one is present, and grows the table if necessary.
  // Returns the steps beyond kFreeSteps: one for each occupied slot that was probed. A
  // slot with an equal hash counts more, since the keys are compared (Comparison); a
  // comparison of more than `max_steps` steps is not made. `before`: the keys in the
  // dict or set so far, text and bytes included. Throws PyError for exceptions of
  // __eq__.
  std::uint64_t add(PyObject* key, Py_hash_t hash, std::uint64_t before,
                    std::uint64_t max_steps);

 private:
  struct Entry {
    Ref key;
    Py_hash_t hash;
  };
  static constexpr std::uint32_t kFree = std::uint32_t(-1);

  std::uint64_t compare(const Entry& existing, PyObject* key, std::uint64_t max_steps,
                        bool& is_equal) const;
  std::uint64_t insert(PyObject* key, Py_hash_t hash, std::uint64_t max_steps);
  std::uint64_t grow();

  Kind kind_;
  std::vector<std::uint32_t> table_;  // Numbers of entries.
  std::vector<Entry> entries_;
  std::uint64_t added_count_ = 0;
  // The steps of a comparison are multiplied by this. If text takes slots too, the
  // table of the dict or set may be larger than this one, and a look-up may visit a
  // slot up to kMaxVisits times.
  std::uint64_t visits_per_slot_ = 1;
};

// Counts the steps of all keys of one payload.
class KeyGuard {
 public:
  explicit KeyGuard(const Limits& limits)
      : remaining_steps_(limits.max_key_steps),
        is_strict_(remaining_steps_ < Limits{}.max_key_steps) {}

  enum class Finding : std::uint8_t {
    kFine,
    kTooDeep,
    kTooManySteps,
    kNan,
    kUnhashable,
  };

  // Whether keys are hashed before they are inserted, to count collisions.
  bool is_strict() const { return is_strict_; }

  // Examines a key before it is inserted into a container that holds `before` keys.
  // `probes`: those of the container, created here when needed. Throws PyError for
  // exceptions of __eq__, and of __hash__ except TypeError. Cost: nothing for text and
  // bytes, whose hashes nobody can choose.
  Finding inspect(PyObject* key, const HashCost& cost, KeyProbes::Kind kind,
                  std::uint64_t announced, std::uint64_t before,
                  std::unique_ptr<KeyProbes>& probes) {
    if (PyUnicode_CheckExact(key)) return Finding::kFine;
    if (cost.depth > kMaxHashDepth) return Finding::kTooDeep;
    if (!spend(charged_steps(cost.steps))) return Finding::kTooManySteps;
    return is_strict_ ? inspect_closely(key, kind, announced, before, probes)
                      : Finding::kFine;
  }

 private:
  Finding inspect_closely(PyObject* key, KeyProbes::Kind kind, std::uint64_t announced,
                          std::uint64_t before, std::unique_ptr<KeyProbes>& probes);
  bool spend(std::uint64_t steps) {
    const bool is_within = steps <= remaining_steps_;
    remaining_steps_ -= std::min<std::uint64_t>(steps, remaining_steps_);
    return is_within;
  }

  std::uint64_t remaining_steps_;
  bool is_strict_;
};

// The text of an error about a key.
const char* describe(KeyGuard::Finding finding);

}  // namespace waybill::py
