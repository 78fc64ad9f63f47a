#pragma once

// The objects that a payload has already, or that earlier payloads of its stream have,
// and references to them.
//
// The memo has each object that may be visited twice, with the offset of its node. When
// the object is visited again, a reference is written; the first reference gives the
// object the next number among the shared objects. A container with one reference in
// the process cannot be visited twice, so it is not in the memo. If a reducer returns
// such a container a second time, it is written twice.

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

// The place of an object: a definition, or the value after the definitions, and an
// offset in it. The memo stores it as one number.
struct Place {
  static constexpr std::uint32_t kValue = UINT32_MAX;
  std::uint32_t definition = kValue;
  std::uint64_t offset = 0;

  bool operator==(const Place&) const = default;

  static constexpr std::uint64_t kDefined = std::uint64_t{1} << 63;
  static constexpr int kShift = 40;  // Bits of the offset: definitions are small.

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
  // `arena` must outlive this.
  WrittenObjects(const EncodeHooks& hooks, Arena& arena)
      : stream_(hooks.memo),
        payload_(hooks.payload),
        memo_(&arena),
        shared_(&arena),
        held_(&arena) {}

  // See Memo.
  MemoEntry* find(std::uintptr_t key) { return memo_.find(key); }
  const Memo& memo() const { return memo_; }

  // Adds an object whose node starts at `offset`, and holds it. Namespaces (tagged
  // keys) are not held: their functions hold them.
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
  void hold(PyObject* object) { held_.push_back(Ref::share(object)); }

  void refer_to(MemoEntry& entry, wire::Writer& out);

  // Writes a reference to an object of an earlier payload of the stream; false if none
  // has it.
  bool refer_to_earlier(std::uintptr_t key, wire::Writer& out) {
    return stream_ != nullptr && refer_to_stream(key, out);
  }
  // Adds the objects of this payload to the memo of the stream. Called when the payload
  // is complete.
  void add_to_stream();

  // Restarts at `offset` the node of an object that readers have not created yet.
  void restart(MemoEntry& entry, std::uint64_t offset);
  bool has_restarts() const { return has_restarts_; }
  // Whether the object is the last one that was restarted.
  bool is_restarted(PyObject* object) const { return restarted_ == key_of(object); }

  // The places of the shared objects, by number; see Place.
  std::span<const std::uint64_t> shared() const { return shared_; }
  // The added objects. They are held because their addresses are keys.
  std::span<const Ref> held() const { return held_; }

  // Starts as a copy of `first`, which must outlive this and must not change.
  void fork_from(const WrittenObjects& first) {
    memo_.lay_on(first.memo_);
    shared_ = first.shared_;
  }

 private:
  static constexpr std::size_t kUsualObjects = 16;  // Reserved at the first one.

  bool refer_to_stream(std::uintptr_t key, wire::Writer& out) const;

  PyObject* stream_;  // See EncodeHooks::memo; null if there is no stream.
  std::uint64_t payload_;
  Memo memo_;
  ArenaVector<std::uint64_t> shared_;
  bool has_restarts_ = false;
  ArenaVector<Ref> held_;
  std::vector<std::uintptr_t> namespaces_;  // Tagged keys for add_to_stream().
  std::uintptr_t restarted_ = 0;
};

}  // namespace waybill::py
