// Fills containers. tests/python/untrusted/test_plain_decoder.py compares with the
// decoder of all objects.

#include "python/decode/plain_decoder.h"

#include <algorithm>
#include <utility>

#include "format/frame.h"
#include "python/decode/plain_loop.h"
#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"

namespace waybill::py {

Ref PlainDecoder::decode() {
  Ref value;
  read(value);
  while (!given_up_ && !stack_.empty()) {
    Frame& frame = stack_.back();
    if (value) put(frame, std::exchange(value, {}));
    if (given_up_) break;
    fill(frame, value);  // May have opened another, which ends the reference.
    if (!given_up_ && stack_.back().left == 0) value = close();
  }
  const bool is_whole = !given_up_ && positions_.are_passed() &&
                        references_seen_ == slots_.size() &&
                        nodes_passed_ == nodes_.size();
  return is_whole ? std::move(value) : Ref();
}

// Values come one after the other until a container is opened.
void PlainDecoder::fill(Frame& frame, Ref& value) {
  cost_ = {};
  switch (frame.kind) {
    case Kind::kList:
      if (are_passed_) fill_with_numbers(frame);
      while (frame.left != 0 && next(value)) {
        PyList_SET_ITEM(frame.object.get(), static_cast<Py_ssize_t>(frame.position++),
                        value.release());
        --frame.left;
      }
      return;
    case Kind::kDict:
    case Kind::kInstance:
      fill_dict(frame, value);
      return;
    default:
      while (frame.left != 0 && next(value)) {
        put(frame, std::exchange(value, {}));
        if (given_up_) return;
        cost_ = {};
      }
      return;
  }
}

// Pairs of leaves, without a way through the frame. What has opened a container ends
// the reference to the frame, so a key is put there before its value is read.
void PlainDecoder::fill_dict(Frame& frame, Ref& value) {
  while (frame.left != 0) {
    if (!frame.key) {
      is_name_ = frame.kind == Kind::kInstance;
      const bool is_read = next(value);
      is_name_ = false;
      if (!is_read) return;
      look_at(value.get(), frame);
      if (given_up_) return;
      frame.key = std::move(value);
      ++frame.position;
      --frame.left;
    }
    if (!next(value)) return;
    hashed(PyDict_SetItem(frame.object.get(), frame.key.get(), value.get()));
    frame.key = value = Ref();
    ++frame.position;
    --frame.left;
    if (given_up_) return;
    cost_ = {};
  }
}

// Passes on the numbers that come next, of which big lists are full; the last bytes of
// the envelope are left to others.
void PlainDecoder::fill_with_numbers(Frame& list) {
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

void PlainDecoder::put(Frame& frame, Ref value) {
  --frame.left;
  const auto index = static_cast<Py_ssize_t>(frame.position++);
  frame.cost.add(cost_);
  switch (frame.kind) {
    case Kind::kList:
      PyList_SET_ITEM(frame.object.get(), index, value.release());
      return;
    case Kind::kTuple:
      PyTuple_SET_ITEM(frame.object.get(), index, value.release());
      return;
    case Kind::kSet:
    case Kind::kFrozenSet:
      look_at(value.get(), frame);
      if (given_up_) return;
      hashed(PySet_Add(frame.object.get(), value.get()));
      return;
    case Kind::kDict:
    case Kind::kInstance:
      if (!frame.key) {
        look_at(value.get(), frame);
        frame.key = std::move(value);
        return;
      }
      hashed(PyDict_SetItem(frame.object.get(), frame.key.get(), value.get()));
      frame.key = Ref();
      return;
  }
}

[[gnu::always_inline]] inline void PlainDecoder::look_at(PyObject* key, Frame& frame) {
  // Classes and instances may say how they are hashed, also inside a tuple.
  if (state_ != nullptr && !is_simple(key)) {
    give_up();
    return;
  }
  const bool is_dict = frame.kind == Kind::kDict || frame.kind == Kind::kInstance;
  const std::uint64_t count = frame.position + frame.left;
  const KeyGuard::Finding finding = keys_.look_at(
      key, cost_, is_dict ? KeyProbes::Kind::kDict : KeyProbes::Kind::kSet,
      is_dict ? count / 2 : count, is_dict ? frame.position / 2 : frame.position - 1,
      frame.probes);
  if (finding != KeyGuard::Finding::kFine) give_up();
}

void PlainDecoder::hashed(int result) {
  if (result >= 0) return;
  // Frozensets inside each other are compared by recursion.
  if (!PyErr_ExceptionMatches(PyExc_TypeError) &&
      !PyErr_ExceptionMatches(PyExc_RecursionError)) {
    throw PyError();
  }
  PyErr_Clear();
  give_up();
}

Ref PlainDecoder::close() {
  Frame frame = std::move(stack_.back());
  stack_.pop_back();
  const auto length = static_cast<Py_ssize_t>(frame.position / 2);
  if ((frame.kind == Kind::kDict || frame.kind == Kind::kInstance) &&
      PyDict_GET_SIZE(frame.object.get()) != length) {
    give_up();  // Equal keys.
  }
  cost_ = {};
  if (frame.kind == Kind::kInstance) {
    --open_instances_;
    pass_nothing(0);
    return std::move(frame.instance);
  }
  if (frame.kind == Kind::kTuple) cost_ = frame.cost.around(frame.position);
  note(frame.slot, frame.object.get());
  return std::move(frame.object);
}

Ref decode_plain(BytesView bytes, const Limits& limits) {
  std::vector<std::uint64_t> shared;
  const std::size_t start = envelope::find_plain_payload(bytes, limits, shared);
  if (start == 0) return {};
  const CollectorPause pause;
  PlainDecoder decoder(bytes, start, limits, shared);
  Ref value = decoder.decode();
  if (!value || !envelope::ends_plain(bytes, start + decoder.size())) return {};
  return value;
}

}  // namespace waybill::py
