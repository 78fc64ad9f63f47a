// Tested by tests/python/cache/test_known_codes.py.

#include "python/runtime/code_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "python/runtime/compat.h"
#include "python/runtime/text.h"

namespace waybill::py {

CodeKey code_key(const ContentHash& body, std::string_view file, BytesView lines) {
  return {body, base::hash_of(lines) ^ std::rotl(base::hash_of(bytes_of(file)), 1)};
}

std::size_t CodeCache::slot_of(const CodeKey& key) {
  std::uint64_t body = 0;
  std::memcpy(&body, key.body.data(), sizeof body);
  return (body ^ key.location_hash) % kMaxEntries;
}

Ref CodeCache::find(const CodeKey& key) const {
  if (!is_enabled_) return {};
  const Entry& entry = entries_[slot_of(key)];
  return entry.code && entry.key == key ? weakly_referenced(entry.code.get()) : Ref();
}

bool CodeCache::was_received(const CodeKey& key) const {
  const Entry& entry = entries_[slot_of(key)];
  return entry.was_received && entry.key == key;
}

void CodeCache::add(const CodeKey& key, PyObject* code) {
  if (!is_enabled_) return;
  // Received code that is sent on stays held.
  const Entry& present = entries_[slot_of(key)];
  if (present.was_received && present.key == key && find(key).get() == code) return;
  // Cheap: the interpreter returns the existing weak reference.
  put({key, weak_reference(code), Ref(), 0});
}

void CodeCache::hold(const CodeKey& key, PyObject* code, std::size_t size) {
  if (!is_enabled_) return;
  const bool is_held = size <= kMaxBytesPerEntry;
  put({key, weak_reference(code), is_held ? Ref::share(code) : Ref(),
       is_held ? size : 0, true});
}

// Replaced entries are destroyed after the table is consistent again, because callbacks
// of weak references to code may run Python code.
void CodeCache::put(Entry entry) {
  Entry& place = entries_[slot_of(entry.key)];
  held_bytes_ += entry.held_bytes;
  held_bytes_ -= place.held_bytes;
  const Entry old = std::exchange(place, std::move(entry));
  while (held_bytes_ > kMaxHeldBytes) {
    Entry& next = entries_[next_to_drop_];
    next_to_drop_ = (next_to_drop_ + 1) % kMaxEntries;
    held_bytes_ -= std::exchange(next.held_bytes, 0);
    const Ref dropped = std::move(next.held);
  }
}

std::size_t CodeCache::held_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      entries_, [](const Entry& entry) { return static_cast<bool>(entry.held); }));
}

void CodeCache::clear() {
  held_bytes_ = 0;
  const auto old = std::make_unique<Entries>();
  std::swap(*old, entries_);
}

}  // namespace waybill::py
