// Tested by tests/python/cache/test_kept_classes.py.

#include "python/encode/kept_classes.h"

#include "python/encode/kept_node.h"
#include "python/runtime/compat.h"

namespace waybill::py {

std::shared_ptr<const KeptNode> KeptClasses::kept(PyObject* type) const {
  const auto found = entries_.find(type);
  return found == entries_.end() ? nullptr : found->second.slot.kept;
}

KeptSlot* KeptClasses::find(PyObject* type) {
  bool is_new = false;
  Entry& found = entry(type, is_new);
  return is_new ? nullptr : &found.slot;
}

bool KeptClasses::is_plain(PyTypeObject* type) const {
  const auto found = entries_.find(reinterpret_cast<PyObject*>(type));
  return found != entries_.end() && found->second.plain_version != 0 &&
         found->second.plain_version == type_version(type) &&
         weakly_referenced(found->second.type.get()).get() == found->first;
}

void KeptClasses::note_plain(PyTypeObject* type) {
  bool is_new = false;
  entry(reinterpret_cast<PyObject*>(type), is_new).plain_version = type_version(type);
}

KeptClasses::Entry& KeptClasses::entry(PyObject* type, bool& is_new) {
  const auto found = entries_.find(type);
  if (found != entries_.end()) {
    if (weakly_referenced(found->second.type.get()).get() == type) return found->second;
    entries_.erase(found);
  }
  is_new = true;
  if (entries_.size() == kMaxEntries) entries_.clear();
  Ref reference = Ref::steal(PyWeakref_NewRef(type, nullptr));
  return entries_.emplace(type, Entry{std::move(reference), {}}).first->second;
}

}  // namespace waybill::py
