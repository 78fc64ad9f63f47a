// Fills containers, and closes them. tests/python/untrusted/test_plain_loop.py and
// tests/python/untrusted/test_among_plain_data.py compare with GraphDecoder alone.

#include "python/decode/plain_loop.h"

#include <algorithm>
#include <utility>

#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"

namespace waybill::py {

bool PlainLoop::begin() {
  const CollectorPause pause;
  return run();
}

bool PlainLoop::run() {
  Ref value = std::exchange(value_, {});
  is_going_ = true;
  look_for_target();
  if (built_.stack.empty()) read(value);
  while (is_going_ && !built_.stack.empty()) {
    Frame& frame = built_.stack.back();
    if (!frame.is_plain()) break;
    if (value) put(frame, value);
    if (is_going_) fill(frame, value);  // May open another, which ends the reference.
    if (is_going_ && built_.stack.back().left == 0) close(value);
  }
  built_.hide();
  value_ = std::move(value);
  return built_.stack.empty() && value_;
}

// Values come one after the other until a container is opened.
[[gnu::always_inline]] inline void PlainLoop::fill(Frame& frame, Ref& value) {
  constexpr std::uint64_t kManyNumbers = 8;  // From so many on it is worth a call.
  built_.cost = {};
  if (frame.kind == FrameKind::kDict || frame.kind == FrameKind::kInstance) {
    return fill_dict(frame, value);
  }
  if (frame.kind == FrameKind::kList && !frame.has_no_holes) {
    if (are_passed_ && frame.left >= kManyNumbers) fill_with_numbers(frame);
    return fill_list(frame, value);
  }
  while (frame.left != 0) {
    const std::uint8_t* const start = at_;
    if (!next(value)) return;
    put(frame, value);
    if (!is_going_) return stop_before(start, value);
    built_.cost = {};
  }
}

void PlainLoop::fill_list(Frame& list, Ref& value) {
  while (list.left != 0 && next(value)) {
    if (list.has_no_holes) return put(list, value);  // It holds itself.
    PyList_SET_ITEM(list.object.get(), static_cast<Py_ssize_t>(list.position++),
                    value.release());
    --list.left;
  }
}

// Pairs of leaves, without a way through the frame. What has opened a container ends
// the reference to the frame, so a key is put there before its value is read.
void PlainLoop::fill_dict(Frame& frame, Ref& value) {
  while (frame.left != 0) {
    if (!frame.key && !read_key(frame, value)) return;
    const std::uint8_t* const start = at_;
    if (!next(value)) return;
    if (!set_item(frame, value.get())) return stop_before(start, value);
    value = Ref();
    ++frame.position;
    --frame.left;
    built_.cost = {};
  }
}

[[gnu::always_inline]] inline bool PlainLoop::read_key(Frame& frame, Ref& value) {
  const std::uint8_t* const start = at_;
  const bool is_name = frame.kind == FrameKind::kInstance;
  Guess* guess = nullptr;
  if (!guesses_.empty() && start != target_) {
    guess = &guesses_[(8 * built_.stack.size() + frame.position / 2) % kGuesses];
  }
  if (guess != nullptr && guess->is_at(start, end_) &&
      (!is_name || PyUnicode_CHECK_INTERNED(guess->key.get()) != 0)) {
    frame.key = guess->key;
    at_ += guess->size;
  } else {
    is_name_ = is_name;
    const bool is_read = next(value);
    is_name_ = false;
    if (!is_read) return false;
    if (!may_hash(value.get(), frame)) return stop_before(start, value), false;
    if (guess != nullptr && (*start & 0xe0) == 0xa0) {
      *guess = {start, static_cast<std::size_t>(at_ - start), value};
    }
    frame.key = std::move(value);
  }
  ++frame.position;
  --frame.left;
  return true;
}

// Passes on the numbers that come next, of which big lists are full; the last bytes of
// the envelope are left to others.
void PlainLoop::fill_with_numbers(Frame& list) {
  const std::uint8_t* at = at_;
  PyObject** const first = PySequence_Fast_ITEMS(list.object.get());
  PyObject** item = first + list.position;
  PyObject** const end = item + list.left;
  for (; item != end && end_ - at >= static_cast<std::ptrdiff_t>(wire::kLongestNumber);
       ++item) {
    std::int64_t value = 0;
    if (*at == 0xcb) {
      const auto real = std::bit_cast<double>(wire::big_endian(at + 1, 8));
      *item = Ref::steal(PyFloat_FromDouble(real)).release();
      at += wire::kLongestNumber;
    } else if (*at < 0x80) {
      *item = Ref::steal(PyLong_FromLong(*at)).release();
      ++at;
    } else if (wire::is_wide_integer(*at) && wire::read_wide_integer(at, value)) {
      *item = Ref::steal(PyLong_FromLongLong(value)).release();
      at += wire::kLeads[*at].head;
    } else {
      break;
    }
  }
  at_ = at;
  list.position = static_cast<std::uint64_t>(item - first);
  list.left = static_cast<std::uint64_t>(end - item);
}

void PlainLoop::put(Frame& frame, Ref& value) {
  const auto index = static_cast<Py_ssize_t>(frame.position);
  PyObject* object = frame.object.get();
  switch (frame.kind) {
    case FrameKind::kList:
      // Code that the payload calls may have got hold of the list and changed it.
      if (index >= PyList_GET_SIZE(object)) return stop();
      [[fallthrough]];
    case FrameKind::kTuple:
      BuildState::put_item(frame, index, std::move(value));
      break;
    case FrameKind::kSet:
      if (!may_hash(value.get(), frame) || !hashed(PySet_Add(object, value.get()))) {
        return stop();
      }
      break;
    case FrameKind::kFrozenSet:
      if (!may_hash(value.get(), frame)) return stop();
      if (BuildState::gathers(frame)) {
        check(PyList_Append(frame.gathered.get(), value.get()));
      } else if (!hashed(PySet_Add(object, value.get()))) {
        return stop();
      }
      break;
    default:
      if (!frame.key) {
        if (!may_hash(value.get(), frame)) return stop();
        frame.key = std::move(value);
        break;
      }
      if (!set_item(frame, value.get())) return stop();
      break;
  }
  value = Ref();
  --frame.left;
  ++frame.position;
  frame.cost.add(built_.cost);
}

[[gnu::always_inline]] inline bool PlainLoop::may_hash(PyObject* key, Frame& frame) {
  if (!is_simple(key)) {
    // Instances say how they are hashed, also inside a tuple.
    if (state_ != nullptr) return false;
    frame.is_whole = false;  // As in GraphDecoder, for payloads that may hold others.
  }
  const bool is_dict =
      frame.kind == FrameKind::kDict || frame.kind == FrameKind::kInstance;
  const std::uint64_t count = frame.position + frame.left;
  const KeyGuard::Finding finding = built_.keys.look_at(
      key, built_.cost, is_dict ? KeyProbes::Kind::kDict : KeyProbes::Kind::kSet,
      is_dict ? count / 2 : count, is_dict ? frame.position / 2 : frame.position,
      frame.probes);
  return finding == KeyGuard::Finding::kFine;
}

// A key that GraphDecoder has put there may have code of its own.
[[gnu::always_inline]] inline bool PlainLoop::set_item(Frame& frame, PyObject* value) {
  PyObject* key = frame.key.get();
  if (state_ != nullptr && !is_simple(key)) return false;
  if (!hashed(PyDict_SetItem(frame.object.get(), key, value))) return false;
  frame.key = Ref();
  return true;
}

bool PlainLoop::hashed(int result) {
  if (result >= 0) return true;
  // Frozensets inside each other are compared by recursion.
  if (!PyErr_ExceptionMatches(PyExc_TypeError) &&
      !PyErr_ExceptionMatches(PyExc_RecursionError)) {
    throw PyError();
  }
  PyErr_Clear();
  return false;
}

void PlainLoop::close(Ref& value) {
  Frame& frame = built_.stack.back();
  PyObject* object = frame.object.get();
  switch (frame.kind) {
    case FrameKind::kInstance:
      if (frame.is_apart || !is_nothing_next(0)) return stop();
      [[fallthrough]];
    case FrameKind::kDict:
      if (frame.is_whole &&
          static_cast<std::uint64_t>(PyDict_GET_SIZE(object)) != frame.position / 2) {
        return stop();
      }
      break;
    case FrameKind::kFrozenSet:
      if (frame.gathered && !hashed(fill_frozen_set(object, frame.gathered.get()))) {
        return stop();
      }
      break;
    default:
      break;
  }
  if (frame.instance) {
    at_ += 2;
    if (!is_trusted_) --open_instances_;
  }
  BuildState::show(frame);
  built_.cost = {};
  if (frame.kind == FrameKind::kTuple) {
    built_.cost = frame.cost.around(frame.position);
  }
  value_offset_ = frame.instance ? frame.instance_offset : frame.offset;
  if (!is_trusted_) note_passed();
  value = std::move(frame.instance ? frame.instance : frame.object);
  note(frame.slot, value.get());
  built_.stack.pop_back();
}

void PlainLoop::stop_before(const std::uint8_t* start, Ref& value) {
  at_ = start;
  built_.positions.go_back_to(static_cast<std::uint64_t>(at_ - start_),
                              [&](std::size_t number) { built_.slots[number] = {}; });
  look_for_target();
  value = Ref();
  stop();
}

void PlainLoop::restart(const Limits& limits) {
  built_.abandon();
  built_.keys = KeyGuard(limits);
  passed_ = {};
  stop_before(first_, value_);
}

}  // namespace waybill::py
