#pragma once

// What all that build a payload share: the containers that are open, and the objects
// that references mean.

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <utility>
#include <vector>

#include "python/decode/frame.h"
#include "python/decode/key_guard.h"
#include "python/decode/shared_positions.h"
#include "python/decode/str_maker.h"
#include "python/runtime/ref.h"
#include "waybill/limits.h"

namespace waybill::py {

// An object that references mean.
struct Slot {
  Ref object;
  std::size_t depth = 0;  // Of its frame while that is open; else 0.
  HashCost cost;
};

// For one payload. Needs the GIL.
class BuildState {
 public:
  static constexpr std::size_t kNoSlot = Frame::kNoSlot;

  // `shared`: the positions of the objects that references mean, by their numbers.
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
    note_open(stack.back());
    return stack.back();
  }
  // The same for a container of plain data.
  Frame& push(FrameKind kind, Ref object, std::uint64_t count, std::size_t offset,
              std::size_t slot) {
    Frame& frame = stack.emplace_back();
    frame.kind = kind;
    frame.object = std::move(object);
    frame.left = count;
    frame.offset = offset;
    frame.slot = slot;
    note_open(frame);
    return frame;
  }

  // Counts the frame on top among those that are hashed through their items.
  void count_direct() {
    const std::size_t depth = stack.size();
    stack.back().direct = depth == 1 ? 1 : stack[depth - 2].direct + 1;
  }

  // Notes an object that is complete, or whose frame has this depth.
  void set_slot(std::size_t slot, PyObject* object, std::size_t depth = 0) {
    if (slot == kNoSlot) return;
    slots[slot].object = Ref::share(object);
    slots[slot].depth = depth;
  }

  // Whether the items of a frozenset are put into it at its end. Nothing can be added
  // one by one to one that others know.
  static bool gathers(Frame& frame) {
    if (!frame.gathered && Py_REFCNT(frame.object.get()) != 1) gather(frame);
    return static_cast<bool>(frame.gathered);
  }
  // From now on they are.
  static void gather(Frame& frame) {
    frame.gathered = Ref::steal(PySequence_List(frame.object.get()));
  }

  // Before code of others runs: nobody finds open lists and tuples by looking at all
  // objects (gc.get_objects()), since they have holes, and no reference leads to an
  // instance that has a part of its state.
  void hide() {
    for (std::size_t i = stack.size(); i != 0 && !stack[i - 1].is_hidden; --i) {
      hide(stack[i - 1]);
    }
  }
  // After the last value of a frame has come.
  static void show(const Frame& frame) {
    if (frame.is_hidden && frame.has_places()) PyObject_GC_Track(frame.object.get());
  }
  // Puts an item into a list or tuple, in place of a stand-in if there is one.
  static void put_item(const Frame& frame, Py_ssize_t index, Ref item) {
    PyObject* object = frame.object.get();
    PyObject*& place = PySequence_Fast_ITEMS(object)[index];
    const Ref old = Ref::steal_or_null(std::exchange(place, item.release()));
  }
  // Puts stand-ins into places that are empty, before somebody gets a reference.
  static void fill_holes(Frame& frame);
  // Drops what is open. It may be part of cycles, or in the hands of others.
  void abandon();

 private:
  static constexpr std::size_t kUsualDepth = 8;

  void note_open(Frame& frame);
  static void hide(Frame& frame);

  // The frames of all but deep payloads are here.
  alignas(Frame) std::array<std::byte, kUsualDepth * sizeof(Frame)> first_frames_;
  std::pmr::monotonic_buffer_resource frames_memory_{first_frames_.data(),
                                                     first_frames_.size()};

 public:
  std::pmr::vector<Frame> stack{&frames_memory_};
  SharedPositions positions;
  std::vector<Slot> slots;  // By number.
  KeyGuard keys;
  StrMaker texts;
  HashCost cost;  // Of the value that was finished last.
};

inline void BuildState::note_open(Frame& frame) {
  const Ref& known = frame.instance ? frame.instance : frame.object;
  if (known) set_slot(frame.slot, known.get(), stack.size());
  if (frame.kind == FrameKind::kTuple || frame.kind == FrameKind::kFrozenSet) {
    count_direct();
  }
}

}  // namespace waybill::py
