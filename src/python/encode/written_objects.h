#pragma once

// Which objects a payload holds already, or earlier payloads of its stream, and
// references to them.
//
// Every object that might be met twice is noted with the offset of its node; when it is
// met again a reference is written, and the first time that happens the object gets the
// next number among the shared ones. A container with one reference in the process
// cannot be met twice by walking, so it is not noted. A reducer may still hand such a
// container out a second time; then there are two.

#include <Python.h>

#include <cstdint>
#include <span>
#include <vector>

#include "python/encode/encode_hooks.h"
#include "python/runtime/arena.h"
#include "python/runtime/memo.h"
#include "python/runtime/ref.h"
#include "wire/writer.h"

namespace waybill::py {

// Where an object stands: in a definition, or in the value behind them, and how far
// from the start of that. The memo has it as one number.
struct Place {
  static constexpr std::uint32_t kValue = UINT32_MAX;
  std::uint32_t definition = kValue;
  std::uint64_t offset = 0;

  bool operator==(const Place&) const = default;

  static constexpr std::uint64_t kDefined = std::uint64_t{1} << 63;
  static constexpr int kShift = 40;  // Definitions are small.

  static Place of(std::uint64_t number) {
    if ((number & kDefined) == 0) return {kValue, number};
    return {static_cast<std::uint32_t>((number & ~kDefined) >> kShift),
            number & ((std::uint64_t{1} << kShift) - 1)};
  }
  std::uint64_t number() const {
    if (definition == kValue) return offset;
    return kDefined | std::uint64_t{definition} << kShift | offset;
  }
};

class WrittenObjects {
 public:
  // `arena` outlives this.
  WrittenObjects(const EncodeHooks& hooks, Arena& arena)
      : stream_(hooks.memo),
        payload_(hooks.payload),
        memo_(&arena),
        shared_(&arena),
        held_(&arena) {}

  // See Memo.
  MemoEntry* find(std::uintptr_t key) { return memo_.find(key); }
  const Memo& memo() const { return memo_; }

  // Notes what begins at `offset`. The first keeps it alive, but not what tagged keys
  // stand for, whose functions do; the second is for what somebody else keeps.
  void add(std::uintptr_t key, std::uint64_t offset) {
    memo_.insert(key, offset);
    if ((key & 1) == 0) {
      if (held_.empty()) held_.reserve(kUsualObjects);
      held_.push_back(Ref::share(reinterpret_cast<PyObject*>(key)));
    } else if (stream_ != nullptr) {
      namespaces_.push_back(key);
    }
  }
  void add_borrowed(std::uintptr_t key, std::uint64_t offset) {
    memo_.insert(key, offset);
  }
  // After that nothing may be written.
  void release() { held_.clear(); }
  void hold(PyObject* object) { held_.push_back(Ref::share(object)); }

  void refer_to(MemoEntry& entry, wire::Writer& out);

  // Writes a reference to what an earlier payload of the stream has; false if none has.
  bool refer_to_earlier(std::uintptr_t key, wire::Writer& out) {
    return stream_ != nullptr && refer_to_place(place_in_stream(key), out);
  }
  // Tells the stream what was added here, once the payload is complete.
  void remember();

  // An object that is not built yet is begun once more, at `offset`.
  void restart(MemoEntry& entry, std::uint64_t offset);
  bool has_restarts() const { return has_restarts_; }
  // Whether it is the last that was.
  bool is_restarted(PyObject* object) const { return restarted_ == key_of(object); }

  // Where the objects stand that are referred to: see Place.
  std::span<const std::uint64_t> shared() const { return shared_; }
  // All that were added, kept alive since their addresses are keys.
  std::span<const Ref> held() const { return held_; }

  // Begins with what `first` has, which outlives this and stays as it is.
  void fork_from(const WrittenObjects& first) {
    memo_.lay_on(first.memo_);
    shared_ = first.shared_;
  }

 private:
  // Room for so many objects is made at once.
  static constexpr std::size_t kUsualObjects = 16;

  // (payload, position, object), borrowed; null if no earlier payload has it.
  PyObject* place_in_stream(std::uintptr_t key) const;
  static bool refer_to_place(PyObject* place, wire::Writer& out);

  PyObject* stream_;  // See EncodeHooks::memo; null if there is no stream.
  std::uint64_t payload_;
  Memo memo_;
  ArenaVector<std::uint64_t> shared_;
  bool has_restarts_ = false;
  ArenaVector<Ref> held_;
  std::vector<std::uintptr_t> namespaces_;  // Tagged keys that a stream is told.
  std::uintptr_t restarted_ = 0;
};

}  // namespace waybill::py
