// Tested by tests/python/untrusted/test_bombs.py and test_key_steps.py.

#include "python/decode/key_guard.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/py_error.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMinTableSize = 8;
constexpr std::size_t kMaxPresized = std::size_t{1} << 17;

std::size_t initial_size(KeyProbes::Kind kind, std::uint64_t announced) {
  if (kind == KeyProbes::Kind::kSet) return kMinTableSize;
  const std::uint64_t wanted = std::min<std::uint64_t>(announced, kMaxPresized) * 3 / 2;
  return std::clamp(std::bit_ceil(static_cast<std::size_t>(wanted)), kMinTableSize,
                    kMaxPresized);
}

constexpr std::uint64_t kComparisonSteps = 8;  // A probe is one step.

// Calls `is_done` for each slot that a set or dict of CPython probes for a hash, until
// it returns true. The order is the same from 3.11 to 3.15 (Objects/dictobject.c,
// Objects/setobject.c).
template <typename IsDone>
void for_each_place(std::size_t mask, Py_hash_t hash, bool is_set,
                    const IsDone& is_done) {
  constexpr std::size_t kLinearProbes = 9;  // Probes of a set before each jump.
  constexpr int kPerturbShift = 5;
  auto perturb = static_cast<std::size_t>(hash);
  for (std::size_t start = perturb & mask;;) {
    const bool has_run = is_set && start + kLinearProbes <= mask;
    const std::size_t end = start + (has_run ? kLinearProbes : 0);
    for (std::size_t at = start; at <= end; ++at) {
      if (is_done(at)) return;
    }
    perturb >>= kPerturbShift;
    start = (start * 5 + 1 + perturb) & mask;
  }
}

// The maximum number of visits of one look-up to one slot. A hash has 64 bits, of which
// each jump uses five: they determine the first slot and twelve jumps. Later jumps
// cycle through all slots, each once, and reach a free one before they repeat. A set
// probes nine more slots after each, so ten jumps may lead to one slot.
constexpr std::uint64_t kMaxVisits = 13 + 10;

// ---- Comparisons -------------------------------------------------------------------

constexpr std::size_t kBytesPerStep = 64;

struct Pair {
  PyObject *left, *right;  // Borrowed from the compared keys.
};

// Counts an upper bound of the steps that `==` takes for two keys. If it exceeds
// `max_steps`, the result is only known to exceed `max_steps`, after about `max_steps`
// steps. Changes no key, and runs no foreign code.
//
// C(u, v), the steps of `u == v`:
//   C = 1                                                 if u is v
//   C = 1 + size / 64                                     leaves
//   C = 1 + the sum of C(u[i], v[i])                      tuples, slices
//   C = 1 + the sum of M(x, y) * (8 + C(y, x)) + slots   frozensets: x of u and y of v
//                                                         that have one hash
// where M(x, y) is how often the look-up of x in the table of v visits y before it
// reaches a free slot: up to kMaxVisits. So the steps multiply per level, by up to 23
// times the number of items with one hash. M depends on the tables of both frozensets,
// so C is defined for pairs. Python stops earlier where items are unequal, or where one
// is found: it never takes more steps.
//
// C is a sum over pairs, so their order does not matter. Pairs still to be counted are
// on a stack; each has been counted as one step already.
class Comparison {
 public:
  explicit Comparison(std::uint64_t max_steps) : max_steps_(max_steps) {}

  std::uint64_t count(PyObject* left, PyObject* right) {
    push(left, right);
    while (!pairs_.empty() && steps_ <= max_steps_) {
      const Pair pair = pairs_.back();
      pairs_.pop_back();
      count(pair);
    }
    return steps_;
  }

 private:
  void push(PyObject* left, PyObject* right) {
    ++steps_;
    if (left != right && Py_TYPE(left) == Py_TYPE(right)) {
      pairs_.push_back({left, right});
    }
  }

  void count(const Pair& pair) {
    if (PyTuple_CheckExact(pair.left)) {
      count_items(pair);
    } else if (PyFrozenSet_CheckExact(pair.left)) {
      count_frozen_sets(pair);
    } else if (PySlice_Check(pair.left)) {
      const auto& left = *reinterpret_cast<PySliceObject*>(pair.left);
      const auto& right = *reinterpret_cast<PySliceObject*>(pair.right);
      push(left.start, right.start);
      push(left.stop, right.stop);
      push(left.step, right.step);
    } else {
      steps_ += std::min(size_of(pair.left), size_of(pair.right)) / kBytesPerStep;
    }
  }

  void count_items(const Pair& pair) {
    const Py_ssize_t count =
        std::min(PyTuple_GET_SIZE(pair.left), PyTuple_GET_SIZE(pair.right));
    for (Py_ssize_t i = 0; i < count && steps_ <= max_steps_; ++i) {
      push(PyTuple_GET_ITEM(pair.left, i), PyTuple_GET_ITEM(pair.right, i));
    }
  }

  void count_frozen_sets(const Pair& pair) {
    const auto& left = *reinterpret_cast<PySetObject*>(pair.left);
    const auto& right = *reinterpret_cast<PySetObject*>(pair.right);
    const bool are_hashed = left.hash != -1 && right.hash != -1;
    if (left.used != right.used || (are_hashed && left.hash != right.hash)) return;
    for (Py_ssize_t i = 0; i <= left.mask && steps_ <= max_steps_; ++i) {
      const setentry& item = left.table[i];
      ++steps_;
      if (item.key != nullptr && item.hash != -1) look_up(item, right);
    }
  }

  // Sets call __eq__ of the stored key.
  void look_up(const setentry& item, const PySetObject& set) {
    for_each_place(static_cast<std::size_t>(set.mask), item.hash, true,
                   [&](std::size_t at) {
                     const setentry& existing = set.table[at];
                     ++steps_;
                     if (existing.key == nullptr || existing.key == item.key)
                       return true;
                     if (existing.hash == item.hash) {
                       steps_ += kComparisonSteps;
                       push(existing.key, item.key);
                     }
                     return steps_ > max_steps_;
                   });
  }

  static std::size_t size_of(PyObject* leaf) {
    if (PyUnicode_CheckExact(leaf)) {
      return static_cast<std::size_t>(PyUnicode_GET_LENGTH(leaf)) *
             static_cast<std::size_t>(PyUnicode_KIND(leaf));
    }
    if (PyBytes_CheckExact(leaf)) {
      return static_cast<std::size_t>(PyBytes_GET_SIZE(leaf));
    }
    return PyLong_CheckExact(leaf) ? integer_size(leaf) : 0;
  }

  std::uint64_t max_steps_;
  std::uint64_t steps_ = 0;
  std::vector<Pair> pairs_;
};

}  // namespace

KeyProbes::KeyProbes(Kind kind, std::uint64_t announced)
    : kind_(kind), table_(initial_size(kind, announced), kFree) {}

std::uint64_t KeyProbes::compare(const Entry& existing, PyObject* key,
                                 std::uint64_t max_steps, bool& is_equal) const {
  is_equal = existing.key.get() == key;
  if (is_equal) return 0;
  const std::uint64_t steps =
      kComparisonSteps + Comparison(max_steps).count(existing.key.get(), key);
  if (steps > max_steps) return steps;
  const int result = PyObject_RichCompareBool(existing.key.get(), key, Py_EQ);
  // Inserting the key into its container raises the RecursionError again.
  if (result < 0) ignore_error(PyExc_RecursionError);
  is_equal = result > 0;
  return steps * visits_per_slot_;
}

std::uint64_t KeyProbes::insert(PyObject* key, Py_hash_t hash,
                                std::uint64_t max_steps) {
  std::uint64_t steps = 0;
  for_each_place(table_.size() - 1, hash, kind_ == Kind::kSet, [&](std::size_t at) {
    if (table_[at] == kFree) {
      table_[at] = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back({Ref::share(key), hash});
      return true;
    }
    const Entry& existing = entries_[table_[at]];
    ++steps;
    if (existing.hash != hash) return false;
    bool is_equal = false;
    steps += compare(existing, key, max_steps, is_equal);
    return is_equal || steps > max_steps;
  });
  return steps;
}

std::uint64_t KeyProbes::grow() {
  constexpr std::size_t kLarge = 50000;
  const std::size_t used = entries_.size();
  const std::size_t wanted = kind_ == Kind::kDict ? used * 3
                             : used > kLarge      ? used * 2
                                                  : used * 4;
  std::vector<std::uint32_t> order = std::exchange(
      table_, std::vector<std::uint32_t>(std::bit_ceil(wanted + 1), kFree));
  if (kind_ == Kind::kSet) {
    std::erase(order, kFree);
  } else {  // In the order of insertion.
    order.resize(used);
    std::iota(order.begin(), order.end(), 0);
  }
  std::uint64_t steps = 0;
  for (const std::uint32_t number : order) {
    std::uint64_t taken = 0;  // No keys are compared: all of them differ.
    for_each_place(table_.size() - 1, entries_[number].hash, kind_ == Kind::kSet,
                   [&](std::size_t at) {
                     if (table_[at] != kFree) return ++taken == 0;
                     table_[at] = number;
                     return true;
                   });
    steps += charged_steps(taken);
  }
  return steps;
}

std::uint64_t KeyProbes::add(PyObject* key, Py_hash_t hash, std::uint64_t before,
                             std::uint64_t max_steps) {
  std::uint64_t steps = 0;
  const std::size_t used = entries_.size();
  const bool is_full = kind_ == Kind::kDict ? used >= table_.size() * 2 / 3
                                            : used * 5 >= (table_.size() - 1) * 3;
  if (is_full) steps = grow();
  if (before > added_count_++) visits_per_slot_ = kMaxVisits;
  return steps + charged_steps(insert(key, hash, max_steps + kFreeSteps));
}

KeyGuard::Finding KeyGuard::inspect_closely(PyObject* key, KeyProbes::Kind kind,
                                            std::uint64_t announced,
                                            std::uint64_t before,
                                            std::unique_ptr<KeyProbes>& probes) {
  if (PyFloat_CheckExact(key) && std::isnan(PyFloat_AS_DOUBLE(key))) {
    return Finding::kNan;
  }
  if (PyBytes_CheckExact(key)) return Finding::kFine;
  const Py_hash_t hash = PyObject_Hash(key);
  if (hash == -1) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PyError();
    PyErr_Clear();
    return Finding::kUnhashable;
  }
  if (!probes) probes = std::make_unique<KeyProbes>(kind, announced);
  return spend(probes->add(key, hash, before, remaining_steps_))
             ? Finding::kFine
             : Finding::kTooManySteps;
}

const char* describe(KeyGuard::Finding finding) {
  switch (finding) {
    case KeyGuard::Finding::kTooDeep:
      return "a key or set item with tuples nested more than 1000 deep, or with too "
             "many nested frozensets, which cannot be hashed safely";
    case KeyGuard::Finding::kTooManySteps:
      return "keys or set items that take more steps than max_key_steps allows: they "
             "were chosen to share parts or to collide";
    case KeyGuard::Finding::kNan:
      return "NaN as a key or set item, which could never be found again";
    case KeyGuard::Finding::kUnhashable:
      return "a key or set item that cannot be hashed";
    case KeyGuard::Finding::kFine:
      break;
  }
  return "a sound key";
}

}  // namespace waybill::py
