// Tested by tests/python/untrusted/test_bombs.py and test_key_steps.py.

#include "python/decode/key_guard.h"

#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "python/decode/key_comparison.h"
#include "python/runtime/attribute.h"
#include "python/runtime/py_error.h"

namespace waybill::py {

namespace {

constexpr std::size_t kSmallest = 8;
constexpr std::size_t kMostPresized = std::size_t{1} << 17;

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

std::uint64_t KeyProbes::compare(const Entry& there, PyObject* key, std::uint64_t most,
                                 bool& is_equal) const {
  is_equal = there.key.get() == key;
  if (is_equal) return 0;
  const std::uint64_t steps =
      kComparison + comparison_steps(there.key.get(), key, most);
  if (steps > most) return steps;
  const int result = PyObject_RichCompareBool(there.key.get(), key, Py_EQ);
  // Who puts the key into its container meets that too.
  if (result < 0) ignore_error(PyExc_RecursionError);
  is_equal = result > 0;
  return steps * meetings_;
}

std::uint64_t KeyProbes::place(PyObject* key, Py_hash_t hash, std::uint64_t most) {
  std::uint64_t steps = 0;
  for_each_place(table_.size() - 1, hash, kind_ == Kind::kSet, [&](std::size_t at) {
    if (table_[at] == kFree) {
      table_[at] = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back({Ref::share(key), hash});
      return true;
    }
    const Entry& there = entries_[table_[at]];
    ++steps;
    if (there.hash != hash) return false;
    bool is_equal = false;
    steps += compare(there, key, most, is_equal);
    return is_equal || steps > most;
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
  } else {  // In the order in which they came.
    order.resize(used);
    std::iota(order.begin(), order.end(), 0);
  }
  std::uint64_t steps = 0;
  for (const std::uint32_t number : order) {
    std::uint64_t taken = 0;  // No keys are compared: all are known to differ.
    for_each_place(table_.size() - 1, entries_[number].hash, kind_ == Kind::kSet,
                   [&](std::size_t at) {
                     if (table_[at] != kFree) return ++taken == 0;
                     table_[at] = number;
                     return true;
                   });
    steps += beyond_usual(taken);
  }
  return steps;
}

std::uint64_t KeyProbes::add(PyObject* key, Py_hash_t hash, std::uint64_t before,
                             std::uint64_t most) {
  std::uint64_t steps = 0;
  const std::size_t used = entries_.size();
  const bool is_full = kind_ == Kind::kDict ? used >= table_.size() * 2 / 3
                                            : used * 5 >= (table_.size() - 1) * 3;
  if (is_full) steps = grow();
  if (before > asked_++) meetings_ = kMostMeetings;
  return steps + beyond_usual(place(key, hash, most + kUsualSteps));
}

KeyGuard::Finding KeyGuard::look_closely(PyObject* key, KeyProbes::Kind kind,
                                         std::uint64_t announced, std::uint64_t before,
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
  return take(probes->add(key, hash, before, left_)) ? Finding::kFine
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
