// Tested by tests/python/cache/test_kept_classes.py.

#include "python/encode/kept_table.h"

#include "python/encode/definitions/heads.h"
#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxClasses = 256;

}  // namespace

void forget_kept(State& state) {
  ++state.cache_generation;
  state.kept_heads = std::make_shared<KeptHeads>();
  state.kept_classes = std::make_shared<KeptTable>(kMaxClasses);
}

bool KeptTable::is_plain(PyTypeObject* type) {
  const Entry* found = existing(as_object(type));
  return found != nullptr && found->plain_version != 0 &&
         found->plain_version == type_version(type);
}

KeptSlot* KeptTable::find(PyObject* key) {
  Entry* found = existing(key);
  return found == nullptr ? nullptr : &found->slot;
}

void KeptTable::note_plain(PyTypeObject* type) {
  entry(as_object(type)).plain_version = type_version(type);
}

KeptTable::Entry* KeptTable::existing(PyObject* key) {
  const auto found = entries_.find(key);
  const bool is_it = found != entries_.end() &&
                     weakly_referenced(found->second.key.get()).get() == key;
  return is_it ? &found->second : nullptr;
}

KeptTable::Entry& KeptTable::entry(PyObject* key) {
  if (Entry* found = existing(key)) return *found;
  entries_.erase(key);
  if (entries_.size() == most_) entries_.clear();
  Ref reference = Ref::steal(PyWeakref_NewRef(key, nullptr));
  return entries_.emplace(key, Entry{std::move(reference), {}}).first->second;
}

}  // namespace waybill::py
