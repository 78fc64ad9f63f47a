#pragma once

// Keys and set items that take long: to be hashed, because tuples share parts, or to be
// put in their place, because all collide and comparing them takes long. Only these
// make plain data cost more than its size; Python itself does not mind them.

#include <Python.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "waybill/limits.h"

namespace waybill::py {

// How many tuples may be inside each other in a key of a dict or an item of a set:
// hash() goes through them on the C stack, which input must not exhaust. (A frozenset
// knows the hashes of its items.)
inline constexpr std::uint32_t kMaxHashDepth = 1000;

// What a value takes as a key. All that counts steps saturates.
struct HashCost {
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

  // To be hashed, if it does not know its hash: a tuple, slice or big integer.
  std::uint32_t depth = 0;
  std::uint64_t steps = 0;
  // To be compared with a value that has the same hash. What knows its hash, as a
  // frozenset does, is looked through for that all the same. What costs nothing here
  // costs nothing else.
  std::uint64_t comparison = 0;

  static HashCost of_bytes(std::size_t size) {
    constexpr std::size_t kBytesInAStep = 64;
    return {0, 0, size / kBytesInAStep};
  }

  // For what holds others: takes the cost of one of them. Most have none.
  void add(const HashCost& item) {
    if (item.comparison == 0) return;
    depth = std::max(depth, item.depth);
    steps = std::min(steps + item.steps, kMost);
    comparison = std::min(comparison + item.comparison, kMost);
  }
  // For what is hashed through its items, of which this is the cost of all.
  HashCost around(std::uint64_t count) const {
    return {depth + 1, std::min(steps + count, kMost),
            std::min(comparison + count + 1, kMost)};
  }
  // For a frozenset of such items: each is looked up in the other one, which takes as
  // many steps as it took to put it there.
  HashCost of_frozen_set(std::uint64_t count, std::uint64_t probing) const {
    return {0, 0, std::min(comparison + count + probing + 1, kMost)};
  }
};

// Steps that count: what keys take that nobody has chosen does not. In a set, multiples
// of large powers of two take the most, about 200.
inline std::uint64_t beyond_usual(std::uint64_t steps) {
  constexpr std::uint64_t kUsual = 256;
  return steps - std::min(steps, kUsual);
}

// The hashes in one dict or set, in a table that is laid out and probed as CPython does
// it (Objects/dictobject.c, Objects/setobject.c; the same from 3.11 to 3.15).
class KeyProbes {
 public:
  enum class Kind : std::uint8_t { kDict, kSet };

  // `announced`: how many there will be, which a dict has room for from the start.
  KeyProbes(Kind kind, std::uint64_t announced);

  // Puts a hash in its place, and others in new ones if the table has to grow. Gives
  // the number of places that were taken on the way, as far as they count. One of an
  // equal hash counts more: the keys themselves are compared, which takes a constant
  // and the greater of both `comparison`s.
  std::uint64_t add(Py_hash_t hash, std::uint64_t comparison);

  // Steps of all that were added, those too that do not count. Saturates.
  std::uint64_t steps() const { return steps_; }

 private:
  static constexpr Py_hash_t kFree = -1;  // No hash of Python's is.
  // Limits below the default count keys, and all of them are below this.
  static constexpr std::uint64_t kMostNoted = std::uint32_t(-1);

  // Asks `is_done` about each place that this hash may have, in turn, until it is.
  template <typename IsDone>
  void probe(Py_hash_t hash, const IsDone& is_done) const;
  void put(std::size_t at, Py_hash_t hash, std::uint32_t comparison);
  std::uint64_t place(Py_hash_t hash, std::uint32_t comparison);
  std::uint64_t grow();

  Kind kind_;
  std::vector<Py_hash_t> table_;
  // Beside each hash what comparing its key takes; empty while that is nothing.
  std::vector<std::uint32_t> comparisons_;
  std::size_t used_ = 0;
  std::uint64_t steps_ = 0;
};

// Keeps count for one payload.
class KeyGuard {
 public:
  explicit KeyGuard(const Limits& limits)
      : left_(limits.max_key_steps), is_strict_(left_ < Limits{}.max_key_steps) {}

  enum class Finding : std::uint8_t {
    kFine,
    kTooDeep,
    kTooManySteps,
    kNan,
    kUnhashable,
  };

  // Whether keys are hashed ahead of their time, to count collisions.
  bool is_strict() const { return is_strict_; }

  // Looks at a key before it is put into a container. `probes`: that container's, made
  // here when it is needed. Throws PyError for what __hash__ raises but TypeError.
  // Cost: nothing for text and bytes, whose hashes nobody can choose.
  Finding look_at(PyObject* key, const HashCost& cost, KeyProbes::Kind kind,
                  std::uint64_t announced, std::unique_ptr<KeyProbes>& probes) {
    if (PyUnicode_CheckExact(key)) return Finding::kFine;
    if (cost.depth > kMaxHashDepth) return Finding::kTooDeep;
    if (!take(beyond_usual(cost.steps))) return Finding::kTooManySteps;
    return is_strict_ ? look_closely(key, cost, kind, announced, probes)
                      : Finding::kFine;
  }

 private:
  Finding look_closely(PyObject* key, const HashCost& cost, KeyProbes::Kind kind,
                       std::uint64_t announced, std::unique_ptr<KeyProbes>& probes);
  bool take(std::uint64_t steps) {
    const bool is_within = steps <= left_;
    left_ -= std::min<std::uint64_t>(steps, left_);
    return is_within;
  }

  std::uint64_t left_;
  bool is_strict_;
};

// What is wrong with a key, for errors.
const char* describe(KeyGuard::Finding finding);

}  // namespace waybill::py
