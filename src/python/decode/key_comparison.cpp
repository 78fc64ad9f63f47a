// C is a sum over pairs, so their order does not matter: those still to be counted lie
// on a stack, each of which has been counted as a step already.
// Tested by tests/python/untrusted/test_key_steps.py.

#include "python/decode/key_comparison.h"

#include <algorithm>
#include <vector>

#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

constexpr std::size_t kBytesInAStep = 64;

struct Pair {
  PyObject *left, *right;  // Borrowed from the two that are compared.
};

class Comparison {
 public:
  explicit Comparison(std::uint64_t most) : most_(most) {}

  std::uint64_t count(PyObject* left, PyObject* right) {
    later(left, right);
    while (!pairs_.empty() && steps_ <= most_) {
      const Pair pair = pairs_.back();
      pairs_.pop_back();
      count(pair);
    }
    return steps_;
  }

 private:
  void later(PyObject* left, PyObject* right) {
    ++steps_;
    if (left != right && Py_TYPE(left) == Py_TYPE(right)) {
      pairs_.push_back({left, right});
    }
  }

  void count(const Pair& pair) {
    if (PyTuple_CheckExact(pair.left)) {
      items(pair);
    } else if (PyFrozenSet_CheckExact(pair.left)) {
      frozen_sets(pair);
    } else if (PySlice_Check(pair.left)) {
      const auto& left = *reinterpret_cast<PySliceObject*>(pair.left);
      const auto& right = *reinterpret_cast<PySliceObject*>(pair.right);
      later(left.start, right.start);
      later(left.stop, right.stop);
      later(left.step, right.step);
    } else {
      steps_ += std::min(size_of(pair.left), size_of(pair.right)) / kBytesInAStep;
    }
  }

  void items(const Pair& pair) {
    const Py_ssize_t count =
        std::min(PyTuple_GET_SIZE(pair.left), PyTuple_GET_SIZE(pair.right));
    for (Py_ssize_t i = 0; i < count && steps_ <= most_; ++i) {
      later(PyTuple_GET_ITEM(pair.left, i), PyTuple_GET_ITEM(pair.right, i));
    }
  }

  void frozen_sets(const Pair& pair) {
    const auto& left = *reinterpret_cast<PySetObject*>(pair.left);
    const auto& right = *reinterpret_cast<PySetObject*>(pair.right);
    const bool are_hashed = left.hash != -1 && right.hash != -1;
    if (left.used != right.used || (are_hashed && left.hash != right.hash)) return;
    for (Py_ssize_t i = 0; i <= left.mask && steps_ <= most_; ++i) {
      const setentry& item = left.table[i];
      ++steps_;
      if (item.key != nullptr && item.hash != -1) look_up(item, right);
    }
  }

  // Sets ask the key that is there whether it equals the one that they look for.
  void look_up(const setentry& item, const PySetObject& set) {
    for_each_place(static_cast<std::size_t>(set.mask), item.hash, true,
                   [&](std::size_t at) {
                     const setentry& there = set.table[at];
                     ++steps_;
                     if (there.key == nullptr || there.key == item.key) return true;
                     if (there.hash == item.hash) {
                       steps_ += kComparison;
                       later(there.key, item.key);
                     }
                     return steps_ > most_;
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

  std::uint64_t most_;
  std::uint64_t steps_ = 0;
  std::vector<Pair> pairs_;
};

}  // namespace

std::uint64_t comparison_steps(PyObject* left, PyObject* right, std::uint64_t most) {
  return Comparison(most).count(left, right);
}

}  // namespace waybill::py
