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

#include "python/runtime/ref.h"
#include "waybill/limits.h"

namespace waybill::py {

// How many tuples may be inside each other in a key of a dict or an item of a set:
// hash() goes through them on the C stack, which input must not exhaust. (A frozenset
// knows the hashes of its items.)
inline constexpr std::uint32_t kMaxHashDepth = 1000;

// What hashing a value takes, if it does not know its hash: a tuple, slice or big
// integer. (A frozenset does.) What costs nothing here costs nothing else. Saturates.
struct HashCost {
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

  std::uint32_t depth = 0;
  std::uint64_t steps = 0;

  // For what holds others: takes the cost of one of them. Most have none.
  void add(const HashCost& item) {
    if (item.depth == 0 && item.steps == 0) return;
    depth = std::max(depth, item.depth);
    steps = std::min(steps + item.steps, kMost);
  }
  // For what is hashed through its items, of which this is the cost of all.
  HashCost around(std::uint64_t count) const {
    return {depth + 1, std::min(steps + count, kMost)};
  }
};

// Steps that count: what keys take that nobody has chosen does not. In a set, multiples
// of large powers of two take the most, about 200.
inline constexpr std::uint64_t kUsualSteps = 256;
inline std::uint64_t beyond_usual(std::uint64_t steps) {
  return steps - std::min(steps, kUsualSteps);
}

// The keys of one dict or set, in a table that is laid out and probed as CPython does
// it, and what putting them there takes. Text and bytes are not among them: nobody can
// choose their hashes.
class KeyProbes {
 public:
  enum class Kind : std::uint8_t { kDict, kSet };

  // `announced`: how many there will be, which a dict has room for from the start.
  KeyProbes(Kind kind, std::uint64_t announced);

  // Puts a key in its place, and others in new ones if the table has to grow; one that
  // equals one that is there stays out. Gives the number of places that were taken on
  // the way, as far as they count. One of an equal hash counts more: the keys
  // themselves are compared (comparison_steps). Nothing is compared that takes more
  // than `most`. `before`: how many keys were put into the dict or set, text and bytes
  // too. Throws PyError for what __eq__ raises.
  std::uint64_t add(PyObject* key, Py_hash_t hash, std::uint64_t before,
                    std::uint64_t most);

 private:
  struct Entry {
    Ref key;
    Py_hash_t hash;
  };
  static constexpr std::uint32_t kFree = std::uint32_t(-1);

  std::uint64_t compare(const Entry& there, PyObject* key, std::uint64_t most,
                        bool& is_equal) const;
  std::uint64_t place(PyObject* key, Py_hash_t hash, std::uint64_t most);
  std::uint64_t grow();

  Kind kind_;
  std::vector<std::uint32_t> table_;  // Numbers of entries.
  std::vector<Entry> entries_;
  std::uint64_t asked_ = 0;
  // What one meeting counts as. Where text takes places too, the table may be larger
  // than this one, and meetings in it may be as many as there can be.
  std::uint64_t meetings_ = 1;
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

  // Looks at a key before it is put into a container, behind so many others. `probes`:
  // that container's, made here when it is needed. Throws PyError for what __eq__
  // raises, and __hash__ but TypeError. Cost: nothing for text and bytes, whose hashes
  // nobody can choose.
  Finding look_at(PyObject* key, const HashCost& cost, KeyProbes::Kind kind,
                  std::uint64_t announced, std::uint64_t before,
                  std::unique_ptr<KeyProbes>& probes) {
    if (PyUnicode_CheckExact(key)) return Finding::kFine;
    if (cost.depth > kMaxHashDepth) return Finding::kTooDeep;
    if (!take(beyond_usual(cost.steps))) return Finding::kTooManySteps;
    return is_strict_ ? look_closely(key, kind, announced, before, probes)
                      : Finding::kFine;
  }

 private:
  Finding look_closely(PyObject* key, KeyProbes::Kind kind, std::uint64_t announced,
                       std::uint64_t before, std::unique_ptr<KeyProbes>& probes);
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
