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

bool KeptTable::is_plain(PyTypeObject* type) const {
  const auto found = entries_.find(reinterpret_cast<PyObject*>(type));
  return found != entries_.end() && found->second.plain_version != 0 &&
         found->second.plain_version == type_version(type) &&
         weakly_referenced(found->second.key.get()).get() == found->first;
}

KeptSlot* KeptTable::find(PyObject* key) {
  const auto found = entries_.find(key);
  if (found == entries_.end() ||
      weakly_referenced(found->second.key.get()).get() != key) {
    return nullptr;
  }
  return &found->second.slot;
}

void KeptTable::note_plain(PyTypeObject* type) {
  entry(reinterpret_cast<PyObject*>(type)).plain_version = type_version(type);
}

KeptTable::Entry& KeptTable::entry(PyObject* key) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    if (weakly_referenced(found->second.key.get()).get() == key) return found->second;
    entries_.erase(found);
  }
  if (entries_.size() == most_) entries_.clear();
  Ref reference = Ref::steal(PyWeakref_NewRef(key, nullptr));
  return entries_.emplace(key, Entry{std::move(reference), {}}).first->second;
}

}  // namespace waybill::py
