// The parts of ordinary classes are equal to those that
// waybill._classes.parts.class_parts makes of any class. Tested by
// tests/python/classes/test_class_parts.py, tests/python/functions/test_methods.py and
// tests/python/cache/test_cached_classes.py.

#include "python/walker/class_attributes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

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
  return !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
         std::string_view(type->tp_name) == "frozendict" && PyObject_Size(value) == 0;
}

Ref parts_of_wrapper(const State& state, PyObject* wrapper) {
  const Names& names = state.names;
  const auto part = [&](const Ref& name) {
    return Ref::steal(PyObject_GetAttr(wrapper, name.get()));
  };
  if (!Py_IS_TYPE(wrapper, &PyProperty_Type)) {
    return Ref::steal(PyTuple_Pack(1, part(names.func).get()));
  }
  return Ref::steal(PyTuple_Pack(4, part(names.fget).get(), part(names.fset).get(),
                                 part(names.fdel).get(), part(names.doc).get()));
}

namespace {

bool is_leaf(PyObject* value) {
  return is_simple(value) || PyComplex_CheckExact(value);
}

// Whether a value is text, a number, or a container of nothing else that is too small
// to be a cache.
bool is_plain_data(PyObject* value) {
  constexpr Py_ssize_t kFew = 100;
  if (PyDict_CheckExact(value)) {
    if (PyDict_GET_SIZE(value) > kFew) return false;
    for (const auto& [key, item] : PairsOf(value)) {
      if (!is_leaf(key) || !is_leaf(item)) return false;
    }
    return true;
  }
  if (PyAnySet_CheckExact(value)) {
    if (PySet_GET_SIZE(value) > kFew) return false;
    const Ref items = Ref::steal(PyObject_GetIter(value));
    while (const Ref next = Ref::steal_or_null(PyIter_Next(items.get()))) {
      if (!is_leaf(next.get())) return false;
    }
    check(PyErr_Occurred() ? -1 : 0);
    return true;
  }
  if (!PyList_CheckExact(value) && !PyTuple_CheckExact(value)) return is_leaf(value);
  return std::ssize(items_of(value)) <= kFew &&
         std::ranges::all_of(items_of(value), is_leaf);
}

bool is_plain_method(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  if (type == &PyFunction_Type || type == &PyProperty_Type) return true;
  // Excludes most values early: a subclass of a wrapper has the wrapper as a base.
  const bool derives_from_object_only =
      type->tp_base == &PyBaseObject_Type || type->tp_base == nullptr;
  if (derives_from_object_only && type != &PyClassMethod_Type &&
      type != &PyStaticMethod_Type) {
    return false;
  }
  return wrapper_among_bases(type) != nullptr;
}

bool is_made_in_c(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  return type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type ||
         type == &PyClassMethodDescr_Type || type == &PyMemberDescr_Type;
}

// Whether a base has an __init_subclass__, which may need keywords.
bool has_hooked_base(const State& state, PyTypeObject* type) {
  PyObject* hook = state.names.init_subclass.get();
  return std::ranges::any_of(order_of(type).subspan(1), [&](PyTypeObject* base) {
    return base != &PyBaseObject_Type &&
           raw_get(type_dict(base).get(), hook) != nullptr;
  });
}

bool has_special_attribute(const State& state, PyObject* dict) {
  const Names& names = state.names;
  for (const Ref* name : {&names.abc_impl, &names.name, &names.class_,
                          &names.context_data, &names.class_manager}) {
    if (raw_get(dict, name->get()) != nullptr) return true;
  }
  PyObject* own_dict = raw_get(dict, names.dict.get());
  return own_dict != nullptr && !Py_IS_TYPE(own_dict, &PyGetSetDescr_Type);
}

bool is_ordinary_attribute(PyObject* name, PyObject* value) {
  return PyUnicode_CheckExact(name) && !is_made_in_c(value);
}

// The turn in which an attribute is set; equal to _turn() in _classes/parts.py.
// Attributes and methods may reach an instance of the class. To build the instance, its
// methods may need the attributes of earlier turns.
int turn_of(PyObject* value) {
  const std::string_view type = Py_TYPE(value)->tp_name;
  if (type == "_thread.lock" || type == "_thread.RLock") return 0;
  return is_plain_data(value) ? 0 : is_plain_method(value) ? 1 : 2;
}

// Whether a library may have derived an attribute that differs between processes:
// pydantic validators, the __hash__ of attrs, the docstring of dataclass(). Such
// attributes are handled by _kinds/derived.py.
bool may_be_derived(const State& state, PyObject* dict, PyObject* doc) {
  const Names& names = state.names;
  if (raw_get(dict, names.pydantic_fields.get()) != nullptr) return true;
  if (raw_get(dict, names.attrs_attrs.get()) != nullptr) {
    PyObject* hash = raw_get(dict, names.hash.get());
    if (hash != nullptr && PyFunction_Check(hash)) return true;
  }
  if (doc == nullptr || !PyUnicode_CheckExact(doc) ||
      raw_get(dict, names.dataclass_fields.get()) == nullptr) {
    return false;
  }
  const std::string text = text_of(doc);
  return text.find(" at 0x") != text.npos || text.find('{') != text.npos;
}

// The attributes that the author of a class set, in order of their turns. Null if the
// class is not ordinary because of one of them.
Ref own_attributes(const State& state, PyObject* dict) {
  struct Attribute {
    Ref name, value;
    int turn;
  };
  std::vector<Attribute> attributes;
  attributes.reserve(static_cast<std::size_t>(PyDict_GET_SIZE(dict)));
  for (const auto& [name, value] : PairsOf(dict)) {
    if (!is_ordinary_attribute(name, value)) return {};
    if (is_implicit_attribute(state, name)) continue;
    if (is_empty_annotations(name, value)) continue;
    attributes.push_back({Ref::share(name), Ref::share(value), 0});
  }
  for (Attribute& attribute : attributes) {
    attribute.turn = turn_of(attribute.value.get());
  }
  std::ranges::stable_sort(attributes, {}, &Attribute::turn);
  Ref own = Ref::steal(PyDict_New());
  for (const Attribute& attribute : attributes) {
    check(PyDict_SetItem(own.get(), attribute.name.get(), attribute.value.get()));
  }
  const int has_doc = PyDict_Contains(own.get(), state.names.doc.get());
  check(has_doc);
  if (has_doc == 1) check(PyDict_DelItem(own.get(), state.names.doc.get()));
  return own;
}

// Whether a class may be ordinary. Does not check its attributes.
bool may_be_ordinary(const State& state, PyObject* type) {
  auto* cls = as_type(type);
  if (Py_TYPE(type) != &PyType_Type || cls->tp_mro == nullptr ||
      has_hooked_base(state, cls)) {
    return false;
  }
  const Ref dict = type_dict(cls);
  return raw_get(dict.get(), state.names.module.get()) != nullptr &&
         !has_special_attribute(state, dict.get());
}

}  // namespace

bool is_implicit_attribute(const State& state, PyObject* name) {
  if (!begins_with_underscore(name)) return false;
  const int is_given = PySet_Contains(state.implicit_attributes.get(), name);
  check(is_given);
  return is_given == 1;
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
  if (!may_be_ordinary(state, type)) return false;
  const Ref dict = type_dict(as_type(type));
  for (const auto& [name, value] : PairsOf(dict.get())) {
    if (!is_ordinary_attribute(name, value) && !is_slot(type, value)) return false;
  }
  return true;
}

Ref ordinary_class_parts(const State& state, PyObject* type) {
  auto* cls = as_type(type);
  const Names& names = state.names;
  const Ref dict = type_dict(cls);
  if (!may_be_ordinary(state, type) || raw_get(dict.get(), names.slots.get()) ||
      raw_get(dict.get(), names.annotate_func.get()) ||
      raw_get(dict.get(), names.annotations_cache.get())) {
    return {};
  }
  // Making a container may run finalizers, and those may change the class.
  const Ref module = Ref::share(raw_get(dict.get(), names.module.get()));
  const Ref doc = Ref::share(raw_get(dict.get(), names.doc.get()));
  const Ref own_bases = Ref::share(cls->tp_bases);
  const Ref own = own_attributes(state, dict.get());
  if (!own || may_be_derived(state, dict.get(), doc.get())) return {};
  const Ref qualified = Ref::steal(PyType_GetQualName(cls));
  const Ref name = Ref::steal(PyType_GetName(cls));
  const Ref bases = Ref::steal(PySequence_List(own_bases.get()));
  const Ref made_with = Ref::steal(PyDict_New());
  check(PyDict_SetItem(made_with.get(), names.module.get(), module.get()));
  check(PyDict_SetItem(made_with.get(), names.qualname.get(), qualified.get()));
  if (doc && doc.get() != Py_None) {
    check(PyDict_SetItem(made_with.get(), names.doc.get(), doc.get()));
  }
  return Ref::steal(PyTuple_Pack(5, as_object(&PyType_Type), name.get(), bases.get(),
                                 made_with.get(), own.get()));
}

}  // namespace waybill::py
