// Decides whether a cached definition is used: resolve_unit().
// Tested by tests/python/cache/test_cached_functions.py and test_cached_classes.py.

#include "python/encode/definitions/definition_cache.h"

#include <utility>

#include "python/guards/object_form.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"
#include "python/walker/class_attributes.h"

namespace waybill::py {

namespace {

// After this many misses of a slot, nothing more is cached in it.
constexpr std::uint32_t kMaxMisses = 8;

// The cache slot of a function or class; null if caching is off, or if it has none yet.
// `creates`: makes a slot for a class that has none.
CacheSlot* find_slot(State& state, PyObject* object, bool creates = false) {
  if (!state.uses_caches) return nullptr;
  if (PyType_Check(object)) {
    return creates ? &state.class_cache->slot(object) : state.class_cache->find(object);
  }
  CodeInfo* info = cached_info(state, PyFunction_GET_CODE(object));
  if (info == nullptr) return nullptr;
  // clear_encode_cache() cannot reach the slots on code objects.
  if (info->slot.entry && !info->slot.entry->guards->is_current(state)) {
    info->slot = {};
  }
  return &info->slot;
}

bool can_be_unit(const State& state, PyObject* object) {
  return PyFunction_Check(object) ||
         (has_standard_metaclass(state, object) &&
          PyType_HasFeature(as_type(object), Py_TPFLAGS_HEAPTYPE));
}

bool is_sent_by_value(const State& state, PyObject* object) {
  const GlobalName name = find_by_own_name(state, object);
  return !name.module || !is_findable(state, name.module.get());
}

// Gives a class an id unless it has one. Returns whether it has one then.
bool ensure_id(const State& state, PyObject* type) {
  if (tracked_id(state, type) != nullptr) return true;
  try {
    ObjectIds().id_of(state, type);
  } catch (const PyError&) {
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) throw;
    ignore_error(PyExc_Exception);  // Writing the class raises it again.
    return false;
  }
  return tracked_id(state, type) != nullptr;
}

void record_guards(State& state, CodeInfos& infos, Unit& unit) {
  unit.visited.clear();
  unit.cached = std::make_shared<CachedDefinition>();
  unit.cached->number = ++state.definition_count;
  // The guards of a class contain its id.
  if (PyType_Check(unit.object.get()) && !ensure_id(state, unit.object.get())) {
    return unit.cached.reset();
  }
  unit.cached->guards =
      ReachGuards::record(state, infos, unit.object.get(), unit.visited);
  if (unit.cached->guards) return;
  unit.cached.reset();
  unit.visited.clear();
}

}  // namespace

void clear_encode_cache(State& state) {
  ++state.cache_generation;
  state.head_cache = std::make_shared<CachedHeads>();
  state.class_cache = std::make_shared<ClassCache>();
}

CacheSlot* ClassCache::find(PyObject* type) {
  const auto found = entries_.find(type);
  const bool is_same = found != entries_.end() &&
                       weakly_referenced(found->second.type.get()).get() == type;
  return is_same ? &found->second.slot : nullptr;
}

CacheSlot& ClassCache::slot(PyObject* type) {
  if (CacheSlot* found = find(type)) return *found;
  entries_.erase(type);
  if (entries_.size() == kMaxEntries) entries_.clear();
  return entries_.emplace(type, Entry{weak_reference(type), {}}).first->second.slot;
}

void resolve_unit(State& state, CodeInfos& infos, Unit& unit) {
  PyObject* object = unit.object.get();
  if (!can_be_unit(state, object)) return;
  constexpr std::size_t kUsual = 8;
  unit.visited.reserve(kUsual);
  CacheSlot* slot = find_slot(state, object);
  if (slot != nullptr && slot->entry) {
    unit.cached = slot->entry;
    if (unit.cached->guards->are_satisfied(state, infos, object, unit.visited)) {
      unit.is_stored = true;
      return;
    }
    ++state.encode_misses;
    slot = find_slot(state, object);  // The function may have another code by now.
    if (slot != nullptr) {
      slot->entry.reset();
      ++slot->misses;
    }
  }
  if (!is_sent_by_value(state, object)) {
    unit.cached.reset();
    unit.visited.clear();
    return;
  }
  record_guards(state, infos, unit);
  slot = find_slot(state, object, true);
  if (slot == nullptr || slot->misses >= kMaxMisses) return;
  if (!unit.cached || !unit.cached->guards->is_checkable()) {
    ++slot->misses;
    return;
  }
  slot->entry = unit.cached;
  unit.is_stored = true;
}

}  // namespace waybill::py
