// Tested by tests/python/cache/test_kept_classes.py.

#include "python/encode/kept_classes.h"

#include "python/encode/kept_node.h"

namespace waybill::py {

std::shared_ptr<const KeptNode> KeptClasses::kept(PyObject* type) const {
  const auto found = entries_.find(type);
  return found == entries_.end() ? nullptr : found->second.slot.kept;
}

KeptSlot* KeptClasses::find(PyObject* type) {
  const auto found = entries_.find(type);
  if (found != entries_.end()) {
    Entry& entry = found->second;
    if (weakly_referenced(entry.type.get()).get() == type) return &entry.slot;
    entries_.erase(found);
  }
  if (entries_.size() == kMaxEntries) entries_.clear();
  Ref reference = Ref::steal(PyWeakref_NewRef(type, nullptr));
  entries_.emplace(type, Entry{std::move(reference), {}});
  return nullptr;
}

}  // namespace waybill::py
