#pragma once

// Maps the objects that are written to a payload to their offsets.

#include <Python.h>

#include <algorithm>
#include <cstdint>

#include "python/runtime/arena.h"

namespace waybill::py {

struct MemoEntry {
  std::uintptr_t key = 0;  // See key_of() and key_of_namespace(); 0: unused.
  std::uint64_t offset = 0;
  std::uint32_t reference = 0;  // 1 + its number among the shared objects, or 0.
  bool is_created = false;      // Readers can refer to it; see NodeTag::kObject.
};

inline std::uintptr_t key_of(PyObject* object) {
  return reinterpret_cast<std::uintptr_t>(object);
}

// A globals dict may also be written as a value, so its namespace has a key of its own.
inline std::uintptr_t key_of_namespace(PyObject* globals) {
  return key_of(globals) | 1;
}

// Open addressing with linear probing; never shrinks. Pointers to entries are valid
// until the next insertion or, on top of another memo, the next look-up.
class Memo {
 public:
  // The table is allocated in `arena`, unless that is null.
  explicit Memo(Arena* arena = nullptr) : slots_(arena) {}

  // From now on this memo also finds the entries of `below`. Changes affect only copies
  // of these entries. `below` must outlive this and must not change.
  void lay_on(const Memo& below) { below_ = &below; }

  MemoEntry* find(std::uintptr_t key);
  const MemoEntry* find(std::uintptr_t key) const {
    return const_cast<Memo*>(this)->find(key);
  }
  // Adds a key, which must be absent.
  MemoEntry& insert(std::uintptr_t key, std::uint64_t offset);
  // Number of entries with this offset or a later one. Cost: linear.
  std::size_t count_from(std::uint64_t offset) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        slots_,
        [&](const auto& slot) { return slot.key != 0 && slot.offset >= offset; }));
  }

 private:
  std::size_t slot_of(std::uintptr_t key) const;
  void grow();
  MemoEntry* find_below(std::uintptr_t key);

  ArenaVector<MemoEntry> slots_;
  std::size_t count_ = 0;
  std::size_t mask_ = 0;
  const Memo* below_ = nullptr;
};

inline std::size_t Memo::slot_of(std::uintptr_t key) const {
  // Fibonacci hashing, because the low bits of addresses differ little.
  return (key * std::uint64_t{0x9e3779b97f4a7c15}) >> 20 & mask_;
}

inline MemoEntry* Memo::find(std::uintptr_t key) {
  if (count_ != 0) {
    std::size_t slot = slot_of(key);
    for (; slots_[slot].key != 0; slot = (slot + 1) & mask_) {
      if (slots_[slot].key == key) return &slots_[slot];
    }
  }
  return below_ == nullptr ? nullptr : find_below(key);
}

[[gnu::noinline]] inline MemoEntry* Memo::find_below(std::uintptr_t key) {
  const MemoEntry* found = below_->find(key);
  if (found == nullptr) return nullptr;
  const MemoEntry entry = *found;
  return &(insert(key, entry.offset) = entry);
}

inline MemoEntry& Memo::insert(std::uintptr_t key, std::uint64_t offset) {
  if (count_ * 2 >= slots_.size()) grow();
  std::size_t slot = slot_of(key);
  while (slots_[slot].key != 0) slot = (slot + 1) & mask_;
  ++count_;
  slots_[slot] = {key, offset, 0, true};
  return slots_[slot];
}

inline void Memo::grow() {
  ArenaVector<MemoEntry> old(slots_.empty() ? 32 : slots_.size() * 2,
                             slots_.get_allocator());
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const MemoEntry& entry : old) {
    if (entry.key == 0) continue;
    std::size_t slot = slot_of(entry.key);
    while (slots_[slot].key != 0) slot = (slot + 1) & mask_;
    slots_[slot] = entry;
  }
}

}  // namespace waybill::py
