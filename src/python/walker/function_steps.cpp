// Single steps from an object: attributes, items, elements.
// Tested by tests/python/imports/discovery.

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/leaves.h"
#include "python/runtime/modules.h"
#include "python/walker/class_attributes.h"
#include "python/walker/function_flow.h"

namespace waybill::py {

namespace {

constexpr std::size_t kMaxElements = 256;

// Whether reading this attribute of a class from an instance runs nobody's code.
bool is_read_in_c(PyObject* attribute) {
  return Py_IS_TYPE(attribute, &PyMemberDescr_Type) ||
         is_field_of_named_tuple(attribute);
}

// The attribute as the instance, or a class on its type's way, has it; slots and fields
// of named tuples are read.
Ref raw_attribute(PyObject* object, PyObject* name) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyFunction_Check(object)) {
    PyObject* dict = as_function(object)->func_dict;
    return dict == nullptr ? Ref() : Ref::share(raw_get(dict, name));
  }
  if (PyType_Check(object)) {
    type = as_type(object);
  } else if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
    const Ref dict = instance_dict(object);
    if (dict && PyDict_Check(dict.get())) {
      if (PyObject* value = raw_get(dict.get(), name)) return Ref::share(value);
    }
  } else {
    return {};
  }
  for (PyTypeObject* base : order_of(type)) {
    if (!PyType_Check(as_object(base))) continue;
    Ref dict = type_dict(base);
    PyObject* value = dict ? raw_get(dict.get(), name) : nullptr;
    if (value == nullptr) continue;
    if (PyType_Check(object) || !is_read_in_c(value)) return Ref::share(value);
    Ref held = Ref::steal_or_null(
        Py_TYPE(value)->tp_descr_get(value, object, type_of(object)));
    // A slot may be empty, a tuple shorter than its class says.
    if (!held) forgive(PyExc_Exception);
    return held;
  }
  return {};
}

// The one index that the keys may be, counted from the start; -1 if it is not known.
Py_ssize_t index_of(const Facts& keys, std::size_t count) {
  if (keys.objects.size() != 1 || keys.unknown) return -1;
  if (!PyLong_CheckExact(keys.objects[0].object.get())) return -1;
  Py_ssize_t index = PyLong_AsSsize_t(keys.objects[0].object.get());
  forgive(PyExc_OverflowError);
  if (index < 0) index += static_cast<Py_ssize_t>(count);
  return index >= 0 && index < static_cast<Py_ssize_t>(count) ? index : -1;
}

// What the operands of a display may be, or one of them; -1: all.
void merge_operands(const Pack& pack, Py_ssize_t only, Facts& result) {
  const CodeSummary& summary = pack.scope->info->summary;
  const Value& display = summary.values[pack.value];
  for (std::uint32_t i = 0; i < display.operand_count; ++i) {
    if (only >= 0 && static_cast<Py_ssize_t>(i) != only) continue;
    result.merge(pack.scope->facts[summary.operands[display.first_operand + i]]);
  }
}

}  // namespace

// Whether a module asks this function for what it has not: it is its __getattr__, or
// what that calls. Names that code asks for came without it, and the others it lacks at
// the sender as well.
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

// Of what the __getattr__ of a package imports comes what code asks of the package: see
// ModuleNeeds.
void FunctionFlow::note_importer(PyObject* object) {
  PyObject* globals = function_->func_globals;
  if (imports_.is_importer(object) && !is_hook_of(globals)) {
    imports_.note_importer(globals);
  }
}

Facts FunctionFlow::attribute(const Scope& scope, ValueId id, const Value& value) {
  Facts result;
  const Facts& parent = scope.facts[value.parent];
  PyObject* name = scope.info->name_at(value.index);
  for (const Fact& fact : parent.objects) attribute_of(scope, id, fact, name, result);
  if (!parent.packs.empty()) {
    // A method of a display (mods.pop()): what it gives may be any of the operands.
    escape(parent);
    result.unknown = true;
  }
  if (parent.unknown) {
    result.unknown = true;
    step_from_escaped(scope, id, name, result);
  }
  return result;
}

void FunctionFlow::step_from_escaped(const Scope& scope, ValueId id, PyObject* name,
                                     Facts& result) {
  asks_unknown_ = true;
  // By index: recording may let further modules escape.
  for (std::size_t i = 0; i < imports_.escaped().size(); ++i) {
    const Fact fact = imports_.escaped()[i];
    step(scope, id, fact, name, result);
  }
}

void FunctionFlow::attribute_of(const Scope& scope, ValueId id, const Fact& from,
                                PyObject* name, Facts& result) {
  PyObject* object = from.object.get();
  if (PyModule_Check(object)) {
    if (name == state_.names.dict.get()) {
      imports_.note_other();
      if (!is_hook_of(PyModule_GetDict(object))) imports_.need_whole(object);
      result.add(PyModule_GetDict(object), from.imported);
    } else if (name == state_.names.getattribute.get()) {
      imports_.note_other();
      escape_to_names(scope, id, from);
    } else {
      // What is not a module is not followed any further.
      note_importer(raw_get(PyModule_GetDict(object), name));
      step(scope, id, from, name, result);
    }
    return;
  }
  imports_.note_look(object);
  if (is_lazy_import(state_, object)) {
    return step_from_placeholder(scope, id, from, name, result);
  }
  if (PyDict_CheckExact(object)) {
    // A method of a module's dict: get, items, …
    if (PyObject* owner = module_of_dict(state_, object)) {
      escape_to_names(scope, id, {Ref::share(owner), from.imported});
    }
    result.unknown = true;
    return;
  }
  Ref found = raw_attribute(object, name);
  if (found) {
    result.add(found.get(), from.imported);
  } else {
    result.unknown = true;
  }
}

Facts FunctionFlow::getattr(const Scope& scope, ValueId id, const Value& value) {
  imports_.note_other();
  Facts result;
  const Facts& parent = scope.facts[value.parent];
  const ValueId operand = scope.info->summary.operands[value.first_operand];
  PyObject* shadow = raw_get(function_->func_globals, state_.names.getattr.get());
  if (shadow != nullptr && !PyCFunction_Check(shadow)) {
    // A function of another meaning: what it gets, it may do anything with.
    result.unknown = true;
    escape(parent);
    return result;
  }
  std::vector<Ref> names;
  for (const Fact& fact : scope.facts[operand].objects) {
    if (PyUnicode_CheckExact(fact.object.get())) names.push_back(fact.object);
  }
  // A name that is not known may be any text of the code.
  if (scope.facts[operand].unknown || names.empty()) {
    names.insert(names.end(), names_.all().begin(), names_.all().end());
  }
  for (const Ref& name : names) {
    for (const Fact& fact : parent.objects) {
      attribute_of(scope, id, fact, name.get(), result);
    }
    if (parent.unknown) step_from_escaped(scope, id, name.get(), result);
  }
  if (parent.unknown || value.operand_count > 1) result.unknown = true;
  return result;
}

Facts FunctionFlow::item(const Scope& scope, ValueId id, const Value& value) {
  Facts result;
  const Facts& parent = scope.facts[value.parent];
  const Facts& keys = scope.facts[scope.info->summary.operands[value.first_operand]];
  result.unknown = parent.unknown;
  for (const Fact& fact : parent.objects) item_of(scope, id, fact, keys, result);
  for (const Pack& pack : parent.packs) {
    const Value& display = pack.scope->info->summary.values[pack.value];
    // An index into a tuple means one operand; else it may be any.
    merge_operands(
        pack, display.index == 0 ? index_of(keys, display.operand_count) : -1, result);
  }
  return result;
}

void FunctionFlow::item_of(const Scope& scope, ValueId id, const Fact& from,
                           const Facts& keys, Facts& result) {
  PyObject* object = from.object.get();
  imports_.note_look(object);
  if (PyDict_CheckExact(object)) {
    PyObject* owner = module_of_dict(state_, object);
    bool has_key = false;
    for (const Fact& key : keys.objects) {
      if (!PyUnicode_CheckExact(key.object.get()) &&
          !PyLong_CheckExact(key.object.get())) {
        continue;
      }
      has_key = true;
      if (owner != nullptr && PyUnicode_CheckExact(key.object.get())) {
        step(scope, id, {Ref::share(owner), from.imported}, key.object.get(), result);
      } else if (PyObject* found = raw_get(object, key.object.get())) {
        const bool is_registry = object == sys_modules(state_) && PyModule_Check(found);
        if (is_registry && importable_name(state_, found) != nullptr) {
          record(scope, id, key.object.get(), from.imported);
        }
        result.add(found, from.imported);
      }
    }
    if (has_key || owner != nullptr || object == sys_modules(state_)) return;
    for (const auto& [key, found] : PairsOf(object)) {
      if (result.objects.size() >= kMaxElements) return;
      result.add(found, from.imported);
    }
    return;
  }
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) {
    result.unknown = true;
    return;
  }
  Ref items = Ref::steal(PySequence_Tuple(object));
  const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
  const Py_ssize_t index = index_of(keys, static_cast<std::size_t>(count));
  if (index >= 0) {
    result.add(PyTuple_GET_ITEM(items.get(), index), from.imported);
    return;
  }
  for (PyObject* item : items_of(items.get())) {
    if (result.objects.size() >= kMaxElements) break;
    result.add(item, from.imported);
  }
}

Facts FunctionFlow::element(const Scope& scope, const Value& value) const {
  Facts result;
  const Facts& parent = scope.facts[value.parent];
  result.unknown = parent.unknown;
  for (const Fact& fact : parent.objects) {
    PyObject* object = fact.object.get();
    imports_.note_look(object);
    const bool is_sequence = PyList_CheckExact(object) || PyTuple_CheckExact(object) ||
                             PyDict_CheckExact(object) || PyAnySet_CheckExact(object);
    if (!is_sequence) {
      result.unknown = result.unknown || !PyUnicode_CheckExact(object);
      continue;
    }
    Ref items = Ref::steal(PySequence_Tuple(object));
    for (PyObject* item : items_of(items.get())) {
      if (result.objects.size() >= kMaxElements) break;
      result.add(item, fact.imported);
    }
  }
  for (const Pack& pack : parent.packs) merge_operands(pack, -1, result);
  return result;
}

void FunctionFlow::escape_to_names(const Scope& scope, ValueId id, const Fact& from) {
  Facts reached;
  reached.objects.push_back(from);
  // Grows while it is walked: names may lead on from what names led to.
  for (std::size_t i = 0; i < reached.objects.size(); ++i) {
    const Fact fact = reached.objects[i];
    if (!PyModule_Check(fact.object.get())) continue;
    for (const Ref& name : names_.all()) step(scope, id, fact, name.get(), reached);
  }
}

}  // namespace waybill::py
