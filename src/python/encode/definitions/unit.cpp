// Tested by tests/python/cache/test_kept_functions.py and test_kept_classes.py.

#include "python/encode/definitions/unit.h"

#include <utility>

#include "python/encode/definitions/heads.h"
#include "python/guards/object_checks.h"
#include "python/runtime/compat.h"
#include "python/runtime/identity.h"
#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

// So often a unit may be another than it was, or cannot be kept, before it is no longer
// tried.
constexpr std::uint32_t kMaxMisses = 8;

// Where a unit is kept; null if nothing is kept or, unless `makes` one for a class, if
// it is looked at for the first time.
KeptSlot* find_slot(State& state, PyObject* object, bool makes = false) {
  if (!state.uses_caches) return nullptr;
  if (PyType_Check(object)) {
    return makes ? &state.kept_classes->slot(object) : state.kept_classes->find(object);
  }
  CodeInfo* info = kept_info(state, PyFunction_GET_CODE(object));
  if (info == nullptr) return nullptr;
  // Tables are emptied with the caches; what is kept on code is found here.
  if (info->slot.kept && !info->slot.kept->guards->is_current(state)) info->slot = {};
  return &info->slot;
}

bool may_be_unit(PyObject* object) {
  return PyFunction_Check(object) ||
         (PyType_CheckExact(object) &&
          PyType_HasFeature(as_type(object), Py_TPFLAGS_HEAPTYPE));
}

bool is_unit(const State& state, PyObject* object) {
  const GlobalName name = find_by_own_name(state, object);
  return !name.module || !is_findable(state, name.module.get());
}

// Whether a class has an id, which it may get here.
bool give_id(const State& state, PyObject* type) {
  if (known_id(state, type) != nullptr) return true;
  try {
    ObjectIds().id_of(state, type);
  } catch (const PyError&) {
    if (PyErr_ExceptionMatches(PyExc_MemoryError)) throw;
    forgive(PyExc_Exception);  // It is raised again where the class is written.
    return false;
  }
  return known_id(state, type) != nullptr;
}

void note(State& state, CodeInfos& infos, Unit& unit) {
  unit.visited.clear();
  unit.kept = std::make_shared<KeptUnit>();
  unit.kept->number = ++state.kept_units;
  // Classes have their ids before they are looked at.
  if (PyType_Check(unit.object.get()) && !give_id(state, unit.object.get())) {
    return unit.kept.reset();
  }
  unit.kept->guards = ReachGuards::note(state, infos, unit.object.get(), unit.visited);
  if (unit.kept->guards) return;
  unit.kept.reset();
  unit.visited.clear();
}

}  // namespace

void forget_kept(State& state) {
  ++state.cache_generation;
  state.kept_heads = std::make_shared<KeptHeads>();
  state.kept_classes = std::make_shared<KeptTable>();
}

KeptSlot* KeptTable::find(PyObject* type) {
  const auto found = entries_.find(type);
  const bool is_it = found != entries_.end() &&
                     weakly_referenced(found->second.type.get()).get() == type;
  return is_it ? &found->second.slot : nullptr;
}

KeptSlot& KeptTable::slot(PyObject* type) {
  if (KeptSlot* found = find(type)) return *found;
  entries_.erase(type);
  if (entries_.size() == kMost) entries_.clear();
  Ref reference = Ref::steal(PyWeakref_NewRef(type, nullptr));
  return entries_.emplace(type, Entry{std::move(reference), {}}).first->second.slot;
}

void look_at_unit(State& state, CodeInfos& infos, Unit& unit) {
  PyObject* object = unit.object.get();
  if (!may_be_unit(object)) return;
  constexpr std::size_t kUsual = 8;
  unit.visited.reserve(kUsual);
  KeptSlot* slot = find_slot(state, object);
  if (slot != nullptr && slot->kept) {
    unit.kept = slot->kept;
    if (unit.kept->guards->hold(state, infos, object, unit.visited)) {
      unit.is_stored = true;
      return;
    }
    ++state.kept_misses;
    slot = find_slot(state, object);  // The function may have another code by now.
    if (slot != nullptr) {
      slot->kept.reset();
      ++slot->misses;
    }
  }
  if (!is_unit(state, object)) {
    unit.kept.reset();
    unit.visited.clear();
    return;
  }
  note(state, infos, unit);
  slot = find_slot(state, object, true);
  if (slot == nullptr || slot->misses >= kMaxMisses) return;
  if (!unit.kept || !unit.kept->guards->can_hold()) {
    ++slot->misses;
    return;
  }
  slot->kept = unit.kept;
  unit.is_stored = true;
}

}  // namespace waybill::py
