#pragma once

// The state of building a payload: the open containers, and the referenced objects.

#include <Python.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <utility>
#include <vector>

#include "python/decode/frame.h"
#include "python/decode/key_guard.h"
#include "python/decode/str_maker.h"
#include "python/runtime/ref.h"
#include "waybill/limits.h"

namespace waybill::py {

// The positions of the referenced objects, for a reader that passes them in ascending
// order.
class SharedPositions {
 public:
  static constexpr std::size_t kNone = Frame::kNoSlot;

  // `shared`: the positions, by the numbers of references.
  explicit SharedPositions(const std::vector<std::uint64_t>& shared) {
    sorted_.reserve(shared.size());
    for (std::size_t i = 0; i < shared.size(); ++i) sorted_.emplace_back(shared[i], i);
    std::sort(sorted_.begin(), sorted_.end());
  }

  // Passes the object at this position and returns its number; kNone if no reference
  // refers to it. Call it for each value, in order.
  std::size_t take_slot_at(std::uint64_t position) {
    if (are_all_passed() || sorted_[next_].first != position) return kNone;
    return sorted_[next_++].second;
  }

  // Passes the objects before `end`.
  void pass_to(std::uint64_t end) {
    while (!are_none_before(end)) ++next_;
  }

  // Whether no object from here up to this position is referenced.
  bool are_none_before(std::uint64_t position) const {
    return are_all_passed() || sorted_[next_].first >= position;
  }

  bool are_all_passed() const { return next_ == sorted_.size(); }
  std::size_t passed_count() const { return next_; }
  // The position of the next object, unless all are passed.
  std::uint64_t next() const { return sorted_[next_].first; }

  // Returns to a position. Calls `forget` with the number of each passed object from
  // there on.
  template <typename Forget>
  void go_back_to(std::uint64_t position, Forget forget) {
    while (next_ != 0 && sorted_[next_ - 1].first >= position) {
      forget(sorted_[--next_].second);
    }
  }

 private:
  std::vector<std::pair<std::uint64_t, std::size_t>> sorted_;
  std::size_t next_ = 0;
};

// An object to which references refer.
struct Slot {
  Ref object;
  std::size_t depth = 0;  // The depth of its open frame; 0 once it is complete.
  HashCost cost;
};

// The state of building one payload. Needs the GIL.
class BuildState {
 public:
  static constexpr std::size_t kNoSlot = Frame::kNoSlot;

  // `shared`: the positions of the referenced objects, by the numbers of references.
  BuildState(const Limits& limits, const std::vector<std::uint64_t>& shared)
      : positions(shared), slots(shared.size()), keys(limits) {
    stack.reserve(first_frames_.size() / sizeof(Frame));
  }
  ~BuildState() { abandon(); }
  BuildState(const BuildState&) = delete;
  BuildState& operator=(const BuildState&) = delete;

  // Opens a container: `frame` has its object, slot and length.
  Frame& push(Frame&& frame) {
    stack.push_back(std::move(frame));
    record_open(stack.back());
    return stack.back();
  }
  // Opens a container of plain data.
  Frame& push(FrameKind kind, Ref object, std::uint64_t count, std::size_t offset,
              std::size_t slot) {
    Frame& frame = stack.emplace_back();
    frame.kind = kind;
    frame.object = std::move(object);
    frame.remaining = count;
    frame.offset = offset;
    frame.slot = slot;
    record_open(frame);
    return frame;
  }

  // Sets hash_depth of the frame on top, which is hashed through its items.
  void set_hash_depth() {
    const std::size_t depth = stack.size();
    stack.back().hash_depth = depth == 1 ? 1 : stack[depth - 2].hash_depth + 1;
  }

  // Sets the object of a slot: complete, or with its frame at this depth.
  void set_slot(std::size_t slot, PyObject* object, std::size_t depth = 0) {
    if (slot == kNoSlot) return;
    slots[slot].object = Ref::share(object);
    slots[slot].depth = depth;
  }

  // Whether the items of a frozenset are gathered, and added when its frame is closed.
  // Starts gathering if other objects refer to the frozenset, because then no items can
  // be added to it.
  static bool must_gather(Frame& frame) {
    if (!frame.gathered && Py_REFCNT(frame.object.get()) != 1) gather(frame);
    return static_cast<bool>(frame.gathered);
  }
  // Starts to gather the items.
  static void gather(Frame& frame) {
    frame.gathered = Ref::steal(PySequence_List(frame.object.get()));
  }

  // Called before foreign code runs. Removes open lists and tuples, which have holes,
  // from the collector's objects (gc.get_objects()), and takes partial state away from
  // instances.
  void hide() {
    for (std::size_t i = stack.size(); i != 0 && !stack[i - 1].is_hidden; --i) {
      hide(stack[i - 1]);
    }
  }
  // Called once a frame has its last value. Shows a hidden list or tuple to the garbage
  // collector again.
  static void show(const Frame& frame) {
    if (frame.is_hidden && frame.has_holes()) PyObject_GC_Track(frame.object.get());
  }
  // Puts an item into a list or tuple, in place of the None that filled a hole.
  static void put_item(const Frame& frame, Py_ssize_t index, Ref item) {
    PyObject* object = frame.object.get();
    PyObject*& place = PySequence_Fast_ITEMS(object)[index];
    const Ref old = Ref::steal_or_null(std::exchange(place, item.release()));
  }
  // Fills holes with None, before another object refers to the container.
  static void fill_holes(Frame& frame);
  // Drops the open frames. Their objects may be part of cycles or be referred to by
  // other objects, so holes are filled first.
  void abandon();

 private:
  static constexpr std::size_t kUsualDepth = 8;

  void record_open(Frame& frame);
  static void hide(Frame& frame);

  // Payloads of usual depth need no heap.
  alignas(Frame) std::array<std::byte, kUsualDepth * sizeof(Frame)> first_frames_;
  std::pmr::monotonic_buffer_resource frames_memory_{first_frames_.data(),
                                                     first_frames_.size()};

 public:
  std::pmr::vector<Frame> stack{&frames_memory_};
  SharedPositions positions;
  std::vector<Slot> slots;  // By number.
  KeyGuard keys;
  StrMaker texts;
  HashCost cost;  // The cost of the last complete value.
};

inline void BuildState::record_open(Frame& frame) {
  const Ref& object = frame.instance ? frame.instance : frame.object;
  if (object) set_slot(frame.slot, object.get(), stack.size());
  if (frame.kind == FrameKind::kTuple || frame.kind == FrameKind::kFrozenSet) {
    set_hash_depth();
  }
}

}  // namespace waybill::py
