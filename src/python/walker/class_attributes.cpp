// Classifies the attributes of classes. Tested by
// tests/python/functions/test_methods.py and tests/python/cache/test_cached_classes.py.

#include "python/walker/class_attributes.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/modules.h"
#include "python/runtime/objects.h"
#include "python/runtime/text.h"

namespace waybill::py {

bool is_wrapper(PyObject* value) {
  return Py_IS_TYPE(value, &PyProperty_Type) ||
         Py_IS_TYPE(value, &PyClassMethod_Type) ||
         Py_IS_TYPE(value, &PyStaticMethod_Type);
}

PyTypeObject* wrapper_among_bases(PyTypeObject* type) {
  for (PyTypeObject* wrapper :
       {&PyProperty_Type, &PyClassMethod_Type, &PyStaticMethod_Type}) {
    if (PyType_IsSubtype(type, wrapper)) return wrapper;
  }
  return nullptr;
}

bool is_added_by_typing(const State& state, PyObject* wrapper) {
  if (!Py_IS_TYPE(wrapper, &PyClassMethod_Type)) return false;
  const Ref wrapped = attribute_or_null(wrapper, state.names.func);
  if (!wrapped || !PyFunction_Check(wrapped.get())) return false;
  PyObject* module = as_function(wrapped.get())->func_module;
  return module != nullptr && PyUnicode_Check(module) &&
         PyUnicode_Compare(module, state.names.typing.get()) == 0;
}

bool is_field_of_named_tuple(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  return PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE) &&
         std::string_view(type->tp_name).ends_with("._tuplegetter");
}

bool is_empty_frozendict(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  return kHasFrozenDict && !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
         std::string_view(type->tp_name) == "frozendict" && PyObject_Size(value) == 0;
}

Ref parts_of_wrapper(const State& state, PyObject* wrapper) {
  const Names& names = state.names;
  const auto part = [&](const Ref& name) { return get_attribute(wrapper, name); };
  if (!Py_IS_TYPE(wrapper, &PyProperty_Type)) {
    return Ref::steal(PyTuple_Pack(1, part(names.func).get()));
  }
  return Ref::steal(PyTuple_Pack(4, part(names.fget).get(), part(names.fset).get(),
                                 part(names.fdel).get(), part(names.doc).get()));
}

namespace {

bool is_made_in_c(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  return type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type ||
         type == &PyClassMethodDescr_Type || type == &PyMemberDescr_Type;
}

// Whether a base has an __init_subclass__, which may need keywords.
bool has_hooked_base(const State& state, PyTypeObject* type) {
  PyObject* hook = state.names.init_subclass.get();
  return std::ranges::any_of(mro_of(type).subspan(1), [&](PyTypeObject* base) {
    return base != &PyBaseObject_Type && raw_get(base, hook) != nullptr;
  });
}

bool has_slots(const State& state, PyTypeObject* type) {
  return std::ranges::any_of(mro_of(type), [&](PyTypeObject* base) {
    PyObject* slots = raw_get(base, state.names.slots.get());
    return slots != nullptr &&
           (!PyTuple_CheckExact(slots) || PyTuple_GET_SIZE(slots) != 0);
  });
}

bool is_of_enum_module(const State& state, PyTypeObject* type) {
  return is_same_text(raw_get(type, state.names.module.get()),
                      state.names.enum_module.get());
}

bool has_special_attribute(const State& state, PyObject* dict) {
  const Names& names = state.names;
  for (const Ref* name :
       {&names.name, &names.class_, &names.context_data, &names.class_manager}) {
    if (raw_get(dict, name->get()) != nullptr) return true;
  }
  PyObject* own_dict = raw_get(dict, names.dict.get());
  return own_dict != nullptr && !Py_IS_TYPE(own_dict, &PyGetSetDescr_Type);
}

}  // namespace

bool is_implicit_attribute(const State& state, PyObject* name) {
  return begins_with_underscore(name) &&
         check(PySet_Contains(state.implicit_attributes.get(), name)) == 1;
}

bool is_empty_annotations(PyObject* name, PyObject* value) {
  return PyDict_CheckExact(value) && PyDict_GET_SIZE(value) == 0 &&
         PyUnicode_CompareWithASCIIString(name, "__annotations__") == 0;
}

bool is_slot(PyObject* type, PyObject* value) {
  return Py_IS_TYPE(value, &PyMemberDescr_Type) &&
         as_object(PyDescr_TYPE(value)) == type;
}

bool is_determined_by_dict(const State& state, PyObject* type) {
  auto* cls = as_type(type);
  if (!has_standard_metaclass(state, type) || cls->tp_mro == nullptr ||
      has_hooked_base(state, cls)) {
    return false;
  }
  const Ref dict = type_dict(cls);
  const bool is_abstract = raw_get(dict.get(), state.names.abc_impl.get()) != nullptr;
  const bool is_of_abc = type_of(type) == state.abc_meta.get();
  if (is_abstract != is_of_abc ||
      raw_get(dict.get(), state.names.module.get()) == nullptr ||
      has_special_attribute(state, dict.get())) {
    return false;
  }
  const bool is_enum = is_enumeration(state, type);
  for (const auto& [name, value] : DictItems(dict.get())) {
    if (!PyUnicode_CheckExact(name)) return false;
    if (is_made_in_c(value) && !is_slot(type, value) &&
        !(is_enum && is_derived_by_enum(state, type, name, value))) {
      return false;
    }
  }
  return true;
}

bool is_enumeration(const State& state, PyObject* object) {
  if (!PyType_Check(object)) return false;
  PyTypeObject* metaclass = Py_TYPE(object);
  if (std::strcmp(metaclass->tp_name, "EnumType") != 0) return false;
  PyObject* module = find_module(state, state.names.enum_module.get());
  return module != nullptr &&
         look_up_in(state, module, state.intern_table.get("EnumType").get()) ==
             as_object(metaclass);
}

PyObject* members_of_enum(const State& state, PyObject* type) {
  PyObject* members = raw_get(as_type(type), state.names.member_map.get());
  return members != nullptr && PyDict_CheckExact(members) ? members : nullptr;
}

bool is_derived_by_enum(const State& state, PyObject* type, PyObject* name,
                        PyObject* value) {
  // The boundary of a flag is sent, in the namespace.
  if (PyUnicode_CompareWithASCIIString(name, "_boundary_") == 0) return false;
  if (check(PySet_Contains(state.derived_by_enum.get(), name)) != 0) return true;
  PyObject* members = members_of_enum(state, type);
  if (members != nullptr && raw_get(members, name) != nullptr) return true;
  if (Py_IS_TYPE(value, &PyStaticMethod_Type)) {
    // From 3.12 on each class has a new wrapper of the inherited function.
    const Ref function = get_attribute(value, state.names.func);
    return PyFunction_Check(function.get()) &&
           is_same_text(as_function(function.get())->func_module,
                        state.names.enum_module.get());
  }
  return std::ranges::any_of(mro_of(as_type(type)), [&](PyTypeObject* base) {
    return raw_get(base, name) == value && is_of_enum_module(state, base);
  });
}

PyObject* value_of_plain_member(const State& state, PyObject* type, PyObject* member) {
  if (type_of(member) != type || has_slots(state, as_type(type))) return nullptr;
  const Ref dict = instance_dict(member);
  if (!dict || !PyDict_CheckExact(dict.get())) return nullptr;
  for (const auto& [name, _] : DictItems(dict.get())) {
    if (!PyUnicode_CheckExact(name) ||
        check(PySet_Contains(state.member_attributes.get(), name)) == 0) {
      return nullptr;
    }
  }
  PyObject* value = raw_get(dict.get(), state.names.member_value.get());
  PyObject* content_type = raw_get(as_type(type), state.names.member_type.get());
  if (value == nullptr || content_type == as_object(&PyBaseObject_Type)) return value;
  if (content_type == as_object(&PyLong_Type) && PyLong_CheckExact(value)) {
    const Ref is_same = Ref::steal(PyLong_Type.tp_richcompare(member, value, Py_EQ));
    return is_same.get() == Py_True ? value : nullptr;
  }
  const bool is_text =
      content_type == as_object(&PyUnicode_Type) && PyUnicode_CheckExact(value);
  return is_text && PyUnicode_Compare(member, value) == 0 ? value : nullptr;
}

bool has_registered_classes(const State& state, PyObject* type) {
  if (type_of(type) != state.abc_meta.get()) return false;
  const Ref dump =
      steal_unless(PyExc_Exception, PyObject_CallOneArg(state.registry_of.get(), type));
  return !dump || PySet_GET_SIZE(PyTuple_GET_ITEM(dump.get(), 0)) != 0;
}

}  // namespace waybill::py
