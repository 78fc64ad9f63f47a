// Keys of dicts and items of sets: which may be hashed, and when. As long as a tuple or
// frozenset is open that something inside of it refers to, an entry of a dict or set
// there waits, because hashing its key might look into what is not there yet.
//
// Tested by tests/python/kinds/test_sharing.py,
// tests/python/untrusted/test_untrusted_input.py.

#include <algorithm>
#include <span>

#include "python/decode/graph_decoder.h"

namespace waybill::py {

void GraphDecoder::demand_hashable(PyObject* key, Frame& frame) {
  const bool is_set =
      frame.kind == FrameKind::kSet || frame.kind == FrameKind::kFrozenSet;
  const auto kind = is_set ? KeyProbes::Kind::kSet : KeyProbes::Kind::kDict;
  // What gets its entries one by one has no room for them from the start.
  const bool has_room = !is_set && frame.kind != FrameKind::kPairs;
  const std::uint64_t announced = has_room ? (frame.position + frame.left) / 2 : 0;
  const std::uint64_t before = is_set ? frame.position - 1 : frame.position / 2;
  const auto look = [&] {
    return built_.keys.look_at(key, built_.cost, kind, announced, before, frame.probes);
  };
  if (built_.keys.is_strict() && must_wait() && !is_simple(key)) {
    fail(ErrorCode::kBadReference, "a key or set item inside a tuple in a cycle");
  }
  const KeyGuard::Finding finding = is_simple(key) ? look() : outside(look);
  if (finding == KeyGuard::Finding::kFine) return;
  const bool is_malformed =
      finding == KeyGuard::Finding::kNan || finding == KeyGuard::Finding::kUnhashable;
  fail(is_malformed ? ErrorCode::kMalformed : ErrorCode::kLimitExceeded,
       describe(finding));
}

void GraphDecoder::hashed(int result) {
  if (result >= 0) return;
  // What keys of other kinds raise is theirs.
  if (PyErr_ExceptionMatches(PyExc_RecursionError) && is_data_only_) {
    fail(ErrorCode::kLimitExceeded, describe(KeyGuard::Finding::kTooDeep));
  }
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw PyError();
  fail(ErrorCode::kMalformed, describe(KeyGuard::Finding::kUnhashable));
}

void GraphDecoder::demand_whole(const Frame& frame) {
  if (!frame.is_whole) return;
  const Py_ssize_t count = PyDict_GET_SIZE(frame.object.get());
  if (static_cast<std::uint64_t>(count) == frame.position / 2) return;
  fail(ErrorCode::kMalformed, "a map with two equal keys");
}

void GraphDecoder::insert_late() {
  const CollectorPause::Break others(collector_);
  late_depth_ = kNotLate;
  for (const Late& late : std::exchange(late_, {})) {
    PyObject* container = late.container.get();
    if (late.value) {
      const Py_ssize_t before = PyDict_GET_SIZE(container);
      hashed(PyDict_SetItem(container, late.key.get(), late.value.get()));
      if (is_data_only_ && PyDict_GET_SIZE(container) == before) {
        fail(ErrorCode::kMalformed, "a map with two equal keys");
      }
    } else if (PyFrozenSet_CheckExact(container)) {
      hashed(fill_frozen_set(container, late.key.get()));
    } else {
      hashed(PySet_Add(container, late.key.get()));
    }
  }
}

void GraphDecoder::fill(const Frame& frame, std::size_t depth) {
  if (!frame.gathered) return;
  PyObject* items = frame.gathered.get();
  const std::span<PyObject* const> each(
      PySequence_Fast_ITEMS(items), static_cast<std::size_t>(PyList_GET_SIZE(items)));
  if (depth > late_depth_ && !std::ranges::all_of(each, is_simple)) {
    late_.push_back({frame.object, frame.gathered, {}});
  } else {
    hashed(outside([&] { return fill_frozen_set(frame.object.get(), items); }));
  }
}

}  // namespace waybill::py
