// Tested by tests/python/test_bombs.py.

#include "python/key_guard.h"

#include <bit>
#include <cmath>
#include <utility>

#include "python/py_error.h"

namespace waybill::py {

namespace {

constexpr std::size_t kSmallest = 8;
constexpr std::size_t kMostPresized = std::size_t{1} << 17;
constexpr std::size_t kLinearProbes = 9;  // Of a set, before it jumps.
constexpr int kPerturbShift = 5;
constexpr std::uint64_t kComparison = 8;  // Of keys, in steps from place to place.

std::size_t first_size(KeyProbes::Kind kind, std::uint64_t announced) {
  if (kind == KeyProbes::Kind::kSet) return kSmallest;
  const std::uint64_t wanted =
      std::min<std::uint64_t>(announced, kMostPresized) * 3 / 2;
  return std::clamp(std::bit_ceil(static_cast<std::size_t>(wanted)), kSmallest,
                    kMostPresized);
}

}  // namespace

KeyProbes::KeyProbes(Kind kind, std::uint64_t announced)
    : kind_(kind), table_(first_size(kind, announced), kFree) {}

template <typename IsDone>
void KeyProbes::probe(Py_hash_t hash, const IsDone& is_done) const {
  const std::size_t mask = table_.size() - 1;
  auto perturb = static_cast<std::size_t>(hash);
  for (std::size_t start = perturb & mask;;) {
    const bool has_run = kind_ == Kind::kSet && start + kLinearProbes <= mask;
    const std::size_t end = start + (has_run ? kLinearProbes : 0);
    for (std::size_t at = start; at <= end; ++at) {
      if (is_done(at)) return;
    }
    perturb >>= kPerturbShift;
    start = (start * 5 + 1 + perturb) & mask;
  }
}

void KeyProbes::put(std::size_t at, Py_hash_t hash, std::uint32_t comparison) {
  table_[at] = hash;
  if (comparison != 0 && comparisons_.empty()) comparisons_.resize(table_.size());
  if (!comparisons_.empty()) comparisons_[at] = comparison;
}

std::uint64_t KeyProbes::place(Py_hash_t hash, std::uint32_t comparison) {
  std::uint64_t steps = 0;
  probe(hash, [&](std::size_t at) {
    if (table_[at] == kFree) {
      put(at, hash, comparison);
      return true;
    }
    const std::uint32_t other = comparisons_.empty() ? 0 : comparisons_[at];
    steps += table_[at] == hash ? kComparison + std::max(comparison, other) : 1;
    return false;
  });
  return steps;
}

std::uint64_t KeyProbes::grow() {
  constexpr std::size_t kLarge = 50000;
  const std::size_t wanted = kind_ == Kind::kDict ? used_ * 3
                             : used_ > kLarge     ? used_ * 2
                                                  : used_ * 4;
  const std::vector<Py_hash_t> hashes =
      std::exchange(table_, std::vector<Py_hash_t>(std::bit_ceil(wanted + 1), kFree));
  const std::vector<std::uint32_t> comparisons = std::exchange(comparisons_, {});
  std::uint64_t steps = 0;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (hashes[i] == kFree) continue;
    std::uint64_t taken = 0;  // No keys are compared: all are known to differ.
    probe(hashes[i], [&](std::size_t at) {
      if (table_[at] != kFree) {
        ++taken;
        return false;
      }
      put(at, hashes[i], comparisons.empty() ? 0 : comparisons[i]);
      return true;
    });
    steps += beyond_usual(taken);
  }
  return steps;
}

std::uint64_t KeyProbes::add(Py_hash_t hash, std::uint64_t comparison) {
  std::uint64_t steps = 0;
  const bool is_full = kind_ == Kind::kDict ? used_ >= table_.size() * 2 / 3
                                            : used_ * 5 >= (table_.size() - 1) * 3;
  if (is_full) steps = grow();
  ++used_;
  const std::uint64_t placing =
      place(hash, static_cast<std::uint32_t>(std::min(comparison, kMostNoted)));
  steps_ = std::min(steps_ + placing, HashCost::kMost);
  return steps + beyond_usual(placing);
}

KeyGuard::Finding KeyGuard::look_closely(PyObject* key, const HashCost& cost,
                                         KeyProbes::Kind kind, std::uint64_t announced,
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
  return take(probes->add(hash, cost.comparison)) ? Finding::kFine
                                                  : Finding::kTooManySteps;
}

const char* describe(KeyGuard::Finding finding) {
  switch (finding) {
    case KeyGuard::Finding::kTooDeep:
      return "a key or set item of more than 1000 tuples, or too many frozensets, "
             "inside each other, which cannot be hashed safely";
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
