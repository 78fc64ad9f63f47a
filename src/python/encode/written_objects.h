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
#include <utility>
#include <vector>

#include "python/encode/encode_hooks.h"
#include "python/runtime/memo.h"
#include "python/runtime/ref.h"
#include "wire/writer.h"

namespace waybill::py {

// A reference that was written: where, and the key of the object that it means.
struct WrittenReference {
  std::size_t begin, end;
  std::uintptr_t key;
};

class WrittenObjects {
 public:
  explicit WrittenObjects(const EncodeHooks& hooks)
      : stream_(hooks.memo), payload_(hooks.payload) {}

  // See Memo.
  MemoEntry* find(std::uintptr_t key) { return places_.memo.find(key); }
  const Memo& memo() const { return places_.memo; }

  // Notes what begins at `offset`. The first keeps it alive, but not what tagged keys
  // stand for, whose functions do; the second is for what somebody else keeps.
  void add(std::uintptr_t key, std::uint64_t offset) {
    places_.memo.insert(key, offset);
    if ((key & 1) == 0) {
      if (held_.empty()) held_.reserve(kUsualObjects);
      held_.push_back(Ref::share(reinterpret_cast<PyObject*>(key)));
    } else if (stream_ != nullptr) {
      namespaces_.push_back(key);
    }
  }
  void note(std::uintptr_t key, std::uint64_t offset) {
    places_.memo.insert(key, offset);
  }
  // After that nothing may be written.
  void let_go() { held_.clear(); }
  void hold(PyObject* object) { held_.push_back(Ref::share(object)); }

  void refer_to(MemoEntry& entry, wire::Writer& out);

  // Writes a reference to what an earlier payload of the stream has; false if none has.
  bool refer_to_earlier(std::uintptr_t key, wire::Writer& out) {
    return stream_ != nullptr && refer_to_place(place_in_stream(key), out);
  }
  bool is_in_stream(std::uintptr_t key) const {
    return place_in_stream(key) != nullptr;
  }
  // Tells the stream what was added here, once the payload is complete.
  void remember();

  // An object that is not built yet is begun once more, at `offset`.
  void restart(MemoEntry& entry, std::uint64_t offset);
  // Whether it is the last that was.
  bool is_restarted(PyObject* object) const { return restarted_ == key_of(object); }

  // What happens while a node is written that is to be kept.
  struct Trace {
    std::vector<WrittenReference> references;
    bool has_restarts = false;
  };
  void trace(Trace* trace) { trace_ = trace; }

  // The offsets of the objects that are referred to.
  const std::vector<std::uint64_t>& shared() const { return places_.shared; }
  // All that were added, kept alive since their addresses are keys.
  const std::vector<Ref>& held() const { return held_; }

  // Begins with what `first` has, which outlives this and stays as it is.
  void go_on_after(const WrittenObjects& first) {
    places_.memo.lay_on(first.places_.memo);
    places_.shared = first.places_.shared;
  }

  // Where objects stand. Whoever writes something to nowhere puts other places here
  // for as long.
  struct Places {
    Memo memo;
    std::vector<std::uint64_t> shared;
  };
  void swap(Places& other) { std::swap(places_, other); }

 private:
  // Room for so many objects is made at once.
  static constexpr std::size_t kUsualObjects = 16;

  // (payload, position, object), borrowed; null if no earlier payload has it.
  PyObject* place_in_stream(std::uintptr_t key) const;
  static bool refer_to_place(PyObject* place, wire::Writer& out);

  PyObject* stream_;  // See EncodeHooks::memo; null if there is no stream.
  std::uint64_t payload_;
  Places places_;
  std::vector<Ref> held_;
  std::vector<std::uintptr_t> namespaces_;  // Tagged keys that a stream is told.
  std::uintptr_t restarted_ = 0;
  Trace* trace_ = nullptr;
};

}  // namespace waybill::py
