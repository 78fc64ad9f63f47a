// Single steps from an object to its attributes, items and elements; and DataNames.
// Tested by tests/python/imports/discovery.

#include <algorithm>
#include <cstring>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/objects.h"
#include "python/walker/class_attributes.h"
#include "python/walker/function_flow.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxElements = 256;
constexpr std::size_t kMaxNames = 1000;

// Whether an instance can read this attribute of its class without running Python code.
bool is_read_in_c(PyObject* attribute) {
  return Py_IS_TYPE(attribute, &PyMemberDescr_Type) ||
         is_field_of_named_tuple(attribute);
}

// The attribute in the dict of the object or of a class in its MRO. Slots and fields of
// named tuples are read, other descriptors are not called.
Ref raw_attribute(PyObject* object, PyObject* name) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyFunction_Check(object)) {
    return Ref::share(raw_get(as_function(object)->func_dict, name));
  }
  if (PyType_Check(object)) {
    type = as_type(object);
  } else if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
    const Ref dict = instance_dict(object);
    if (PyObject* value = raw_get(dict.get(), name)) return Ref::share(value);
  } else {
    return {};
  }
  for (PyTypeObject* base : mro_of(type)) {
    PyObject* value = raw_get(base, name);
    if (value == nullptr) continue;
    if (PyType_Check(object) || !is_read_in_c(value)) return Ref::share(value);
    // A slot may be empty, and a tuple may be shorter than its class says.
    return steal_unless(PyExc_Exception,
                        Py_TYPE(value)->tp_descr_get(value, object, type_of(object)));
  }
  return {};
}

// The only index that the keys can be, counted from the start; -1 if there may be
// others.
Py_ssize_t index_of(const PointsToSet& keys, std::size_t count) {
  if (keys.objects.size() != 1 || keys.is_unknown) return -1;
  if (!PyLong_CheckExact(keys.objects[0].object.get())) return -1;
  Py_ssize_t index = PyLong_AsSsize_t(keys.objects[0].object.get());
  ignore_error(PyExc_OverflowError);
  if (index < 0) index += static_cast<Py_ssize_t>(count);
  return index >= 0 && index < static_cast<Py_ssize_t>(count) ? index : -1;
}

// Merges what operand `only` of a display may be, or all operands if it is -1.
void merge_operands(const Pack& pack, Py_ssize_t only, PointsToSet& result) {
  const CodeSummary& summary = pack.scope->info->summary;
  const Value& display = summary.values[pack.value];
  for (std::uint32_t i = 0; i < display.operand_count; ++i) {
    if (only >= 0 && static_cast<Py_ssize_t>(i) != only) continue;
    result.merge(pack.scope->points_to[summary.operands[display.first_operand + i]]);
  }
}

// Adds the items of a tuple, as far as the set has room.
void add_items(const Ref& tuple, bool is_imported, PointsToSet& result) {
  for (PyObject* item : items_of(tuple.get())) {
    if (result.objects.size() >= kMaxElements) break;
    result.add(item, is_imported);
  }
}

bool is_attribute_getter(PyObject* object) {
  return std::strcmp(Py_TYPE(object)->tp_name, "operator.attrgetter") == 0;
}

// Whether an object is the builtin getattr or hasattr, under any name.
bool is_getattr_or_hasattr(PyObject* object) {
  if (!PyCFunction_CheckExact(object)) return false;
  const char* name = reinterpret_cast<PyCFunctionObject*>(object)->m_ml->ml_name;
  return std::strcmp(name, "getattr") == 0 || std::strcmp(name, "hasattr") == 0;
}

}  // namespace

// Whether this function is the __getattr__ of the module with these globals, or one
// that the __getattr__ calls. Such a function needs no modules: the attributes that
// code reads are sent without it, and those that it cannot find are missing at the
// sender as well.
bool FunctionFlow::is_hook_of(PyObject* globals) const {
  PyObject* hook = raw_get(globals, state_.names.getattr_hook.get());
  if (hook == nullptr || !PyFunction_Check(hook)) return false;
  auto* own = as_object(function_);
  if (hook == own) return true;
  const Ref names = get_attribute(PyFunction_GET_CODE(hook), "co_names");
  for (PyObject* name : items_of(names.get())) {
    if (raw_get(PyFunction_GET_GLOBALS(hook), name) == own) return true;
  }
  return false;
}

// Imports in the __getattr__ of a package do not count: ModuleNeeds sends what code
// reads from the package.
void FunctionFlow::record_importer(PyObject* object) {
  PyObject* globals = function_->func_globals;
  if (imports_.is_importer(object) && !is_hook_of(globals)) {
    imports_.record_importer(globals);
  }
}

PointsToSet FunctionFlow::evaluate_attribute(const Scope& scope, ValueId id,
                                             const Value& value) {
  PointsToSet result;
  const PointsToSet& parent = scope.points_to[value.parent];
  PyObject* name = scope.info->name_at(value.index);
  for (const Target& target : parent.objects)
    read_attribute(scope, id, target, name, result);
  if (!parent.packs.empty()) {
    // A method of a display, such as mods.pop(), may return any of the operands.
    escape(parent);
    result.is_unknown = true;
  }
  if (parent.is_unknown) {
    result.is_unknown = true;
    step_from_escaped(scope, id, name, result);
  }
  return result;
}

void FunctionFlow::step_from_escaped(const Scope& scope, ValueId id, PyObject* name,
                                     PointsToSet& result) {
  reads_unknown_ = true;
  // By index, because a step may let further modules escape.
  for (std::size_t i = 0; i < imports_.escaped().size(); ++i) {
    const Target target = imports_.escaped()[i];
    step(scope, id, target, name, result);
  }
}

void FunctionFlow::read_attribute(const Scope& scope, ValueId id, const Target& from,
                                  PyObject* name, PointsToSet& result) {
  PyObject* object = from.object.get();
  if (PyModule_Check(object)) {
    if (name == state_.names.dict.get()) {
      imports_.mark_untraceable();
      if (!is_hook_of(PyModule_GetDict(object))) imports_.need_whole(object);
      result.add(PyModule_GetDict(object), from.is_imported);
    } else if (name == state_.names.getattribute.get()) {
      imports_.mark_untraceable();
      escape_to_names(scope, id, from);
    } else {
      // Only attributes that are modules are followed.
      record_importer(raw_get(PyModule_GetDict(object), name));
      step(scope, id, from, name, result);
    }
    return;
  }
  imports_.record_access(object);
  if (is_lazy_import(state_, object)) {
    return step_from_placeholder(scope, id, from, name, result);
  }
  if (PyDict_CheckExact(object)) {
    // A method of a module's dict, such as get or items.
    if (PyObject* owner = module_of_dict(state_, object)) {
      escape_to_names(scope, id, {Ref::share(owner), from.is_imported});
    }
    result.is_unknown = true;
    return;
  }
  Ref found = raw_attribute(object, name);
  if (found) {
    result.add(found.get(), from.is_imported);
  } else {
    result.is_unknown = true;
  }
}

PointsToSet FunctionFlow::evaluate_getattr(const Scope& scope, ValueId id,
                                           const Value& value) {
  imports_.mark_untraceable();
  PointsToSet result;
  const PointsToSet& parent = scope.points_to[value.parent];
  const ValueId operand = scope.info->summary.operands[value.first_operand];
  PyObject* shadow = raw_get(function_->func_globals, state_.names.getattr.get());
  if (shadow != nullptr && !PyCFunction_Check(shadow)) {
    // `getattr` is another function here, which may do anything with its arguments.
    result.is_unknown = true;
    escape(parent);
    return result;
  }
  std::vector<Ref> names;
  for (const Target& target : scope.points_to[operand].objects) {
    if (PyUnicode_CheckExact(target.object.get())) names.push_back(target.object);
  }
  // A name that is not known may be any text of the code.
  if (scope.points_to[operand].is_unknown || names.empty()) {
    names.insert(names.end(), names_.all().begin(), names_.all().end());
  }
  for (const Ref& name : names) {
    for (const Target& target : parent.objects) {
      read_attribute(scope, id, target, name.get(), result);
    }
    if (parent.is_unknown) step_from_escaped(scope, id, name.get(), result);
  }
  if (parent.is_unknown || value.operand_count > 1) result.is_unknown = true;
  return result;
}

PointsToSet FunctionFlow::evaluate_item(const Scope& scope, ValueId id,
                                        const Value& value) {
  PointsToSet result;
  const PointsToSet& parent = scope.points_to[value.parent];
  const PointsToSet& keys =
      scope.points_to[scope.info->summary.operands[value.first_operand]];
  result.is_unknown = parent.is_unknown;
  for (const Target& target : parent.objects)
    read_item(scope, id, target, keys, result);
  for (const Pack& pack : parent.packs) {
    const Value& display = pack.scope->info->summary.values[pack.value];
    // A known index into a tuple selects one operand; otherwise it may be any.
    merge_operands(
        pack, display.index == 0 ? index_of(keys, display.operand_count) : -1, result);
  }
  return result;
}

void FunctionFlow::read_item(const Scope& scope, ValueId id, const Target& from,
                             const PointsToSet& keys, PointsToSet& result) {
  PyObject* object = from.object.get();
  imports_.record_access(object);
  if (PyDict_CheckExact(object)) {
    PyObject* owner = module_of_dict(state_, object);
    bool has_key = false;
    for (const Target& key : keys.objects) {
      if (!PyUnicode_CheckExact(key.object.get()) &&
          !PyLong_CheckExact(key.object.get())) {
        continue;
      }
      has_key = true;
      if (owner != nullptr && PyUnicode_CheckExact(key.object.get())) {
        step(scope, id, {Ref::share(owner), from.is_imported}, key.object.get(),
             result);
      } else if (PyObject* found = raw_get(object, key.object.get())) {
        const bool is_registry = object == sys_modules(state_) && PyModule_Check(found);
        if (is_registry && importable_name(state_, found) != nullptr) {
          record(scope, id, key.object.get(), from.is_imported);
        }
        result.add(found, from.is_imported);
      }
    }
    if (has_key || owner != nullptr || object == sys_modules(state_)) return;
    for (const auto& [key, found] : DictItems(object)) {
      if (result.objects.size() >= kMaxElements) return;
      result.add(found, from.is_imported);
    }
    return;
  }
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) {
    result.is_unknown = true;
    return;
  }
  Ref items = Ref::steal(PySequence_Tuple(object));
  const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
  const Py_ssize_t index = index_of(keys, static_cast<std::size_t>(count));
  if (index >= 0) {
    result.add(PyTuple_GET_ITEM(items.get(), index), from.is_imported);
    return;
  }
  add_items(items, from.is_imported, result);
}

PointsToSet FunctionFlow::evaluate_element(const Scope& scope,
                                           const Value& value) const {
  PointsToSet result;
  const PointsToSet& parent = scope.points_to[value.parent];
  result.is_unknown = parent.is_unknown;
  for (const Target& target : parent.objects) {
    PyObject* object = target.object.get();
    imports_.record_access(object);
    const bool is_sequence = PyList_CheckExact(object) || PyTuple_CheckExact(object) ||
                             PyDict_CheckExact(object) || PyAnySet_CheckExact(object);
    if (!is_sequence) {
      result.is_unknown = result.is_unknown || !PyUnicode_CheckExact(object);
      continue;
    }
    add_items(Ref::steal(PySequence_Tuple(object)), target.is_imported, result);
  }
  for (const Pack& pack : parent.packs) merge_operands(pack, -1, result);
  return result;
}

void FunctionFlow::escape_to_names(const Scope& scope, ValueId id, const Target& from) {
  PointsToSet reached;
  reached.objects.push_back(from);
  // The set grows during the loop, because names may lead on from the modules found.
  for (std::size_t i = 0; i < reached.objects.size(); ++i) {
    const Target target = reached.objects[i];
    if (!PyModule_Check(target.object.get())) continue;
    for (const Ref& name : names_.all()) step(scope, id, target, name.get(), reached);
  }
}

bool DataNames::are_read() {
  if (has_names_) return !names_.empty();
  const CodeInfo& info = *scopes_[0]->info;
  const auto is_reader = [&](const GlobalUse& use) {
    PyObject* value = raw_get(function_->func_globals, use.name);
    return value != nullptr &&
           (is_attribute_getter(value) || is_getattr_or_hasattr(value));
  };
  if (info.uses_attribute_readers || std::ranges::any_of(info.globals, is_reader)) {
    return !all().empty();
  }
  has_names_ = true;  // The list stays empty.
  return false;
}

void DataNames::add(PyObject* constant, int depth) {
  if (names_.size() >= kMaxNames) return;
  if (PyTuple_CheckExact(constant) && depth < 4) {
    for (PyObject* item : items_of(constant)) add(item, depth + 1);
  }
  if (!PyUnicode_CheckExact(constant)) return;
  Ref dot = Ref::steal(PyUnicode_FromString("."));
  Ref parts = Ref::steal(PyUnicode_Split(constant, dot.get(), -1));
  for (PyObject* part : items_of(parts.get())) {
    if (PyUnicode_IsIdentifier(part) == 1) names_.push_back(Ref::share(part));
  }
}

const std::vector<Ref>& DataNames::all() {
  if (has_names_) return names_;
  has_names_ = true;
  for (const auto& scope : scopes_) {
    for (PyObject* constant : items_of(scope->info->code->co_consts)) add(constant, 0);
  }
  for (const GlobalUse& use : scopes_[0]->info->globals) {
    PyObject* value = raw_get(function_->func_globals, use.name);
    if (value == nullptr) continue;
    add(value, 0);
    if (!is_attribute_getter(value)) continue;
    Ref parts = Ref::steal(PyObject_CallMethod(value, "__reduce__", nullptr));
    if (PyTuple_Check(parts.get()) && PyTuple_GET_SIZE(parts.get()) > 1) {
      add(PyTuple_GET_ITEM(parts.get(), 1), 0);
    }
  }
  return names_;
}

}  // namespace waybill::py
