// Tested by tests/python/api/test_object_paths.py,
// tests/python/explain/test_evaluated_paths.py and
// tests/engines/test_explained_tasks.py.

#include "python/encode/paths/path_step.h"

#include <cstring>

#include "python/runtime/attribute.h"
#include "python/runtime/text.h"
#include "python/runtime/version_caches.h"

namespace waybill::py {

namespace steps = envelope::steps;

bool is_attribute_name(PyObject* name) {
  return PyUnicode_IsIdentifier(name) == 1 && !steps::is_keyword(text_of(name));
}

std::string Label::variable() const {
  return is_variable() ? text_of(name.get()) : std::string();
}

std::string Label::spelled() const {
  if (style == Style::kAttribute && is_attribute_name(name.get())) {
    return steps::attribute(text_of(name.get())) + text;
  }
  return steps::spelled(style, text,
                        steps::has_key(style) ? shown_key(name.get()) : std::string(),
                        static_cast<std::uint64_t>(index));
}

bool Label::evaluates() const {
  if (style == Style::kAttribute && is_attribute_name(name.get())) return true;
  if (style == Style::kKey && text[0] == '<') return false;
  return steps::is_expression(style) &&
         (!steps::has_key(style) || is_literal(name.get()));
}

namespace {

// The maximum number of attributes of one object or class that are compared.
constexpr Py_ssize_t kMaxAttributes = 64;

bool is_name(PyObject* key) {
  return PyUnicode_CheckExact(key) && is_attribute_name(key);
}

// Whether a class has a method of this name in Python.
bool has_method_in_python(PyTypeObject* type, const char* name) {
  const Ref text = interned(name);
  PyObject* found = _PyType_Lookup(type, text.get());
  return found != nullptr && PyFunction_Check(found);
}

// Whether a class has its own __getattribute__ in Python.
bool overrides_getattribute(PyTypeObject* type) {
  return type->tp_getattro != PyObject_GenericGetAttr &&
         has_method_in_python(type, "__getattribute__");
}

// Whether a class attribute takes precedence over the dict of an instance.
bool is_data_descriptor(PyObject* class_attribute) {
  return class_attribute != nullptr &&
         Py_TYPE(class_attribute)->tp_descr_set != nullptr;
}

// Whether a descriptor reads a field in the C struct of the object: a slot, or an
// attribute of exceptions such as .args or .__cause__.
bool is_field(PyObject* class_attribute) {
  if (class_attribute == nullptr) return false;
  if (Py_IS_TYPE(class_attribute, &PyMemberDescr_Type)) return true;
  return Py_IS_TYPE(class_attribute, &PyGetSetDescr_Type) &&
         as_object(PyDescr_TYPE(class_attribute)) == PyExc_BaseException;
}

bool has_in_dict(PyObject* owner, PyObject* name, PyObject* value) {
  const Ref dict = instance_dict(owner);
  return dict && PyDict_CheckExact(dict.get()) && raw_get(dict.get(), name) == value;
}

Ref find_in_dict(PyObject* owner, PyObject* value) {
  const Ref dict = instance_dict(owner);
  if (!dict || !PyDict_CheckExact(dict.get())) return {};
  if (PyDict_GET_SIZE(dict.get()) > kMaxAttributes) return {};
  for (const auto& [key, held] : DictItems(dict.get())) {
    if (held != value || !is_name(key)) continue;
    if (!is_data_descriptor(_PyType_Lookup(Py_TYPE(owner), key))) {
      return Ref::share(key);
    }
  }
  return {};
}

// Reads slots: their descriptors run no code of the program.
Ref find_in_slots(PyTypeObject* type, PyObject* owner, PyObject* value) {
  PyObject* dict = type->tp_dict;
  if (dict == nullptr) return {};  // A static type of the interpreter.
  Py_ssize_t remaining = kMaxAttributes;
  for (const auto& [key, held] : DictItems(dict)) {
    if (!Py_IS_TYPE(held, &PyMemberDescr_Type) || !is_name(key)) continue;
    if (remaining-- == 0) break;
    const Ref found =
        Ref::steal_or_null(Py_TYPE(held)->tp_descr_get(held, owner, type_of(owner)));
    if (!found) PyErr_Clear();  // The slot is empty.
    if (found.get() == value && _PyType_Lookup(Py_TYPE(owner), key) == held) {
      return Ref::share(key);
    }
  }
  return {};
}

// The label of an entry in the namespace of a class statement. Reading an attribute of
// a class returns the object in its dict, unless that is a descriptor.
Label label_in_class(PyObject* type, PyObject* name, PyObject* value) {
  PyObject* held = raw_get(as_type(type), name);
  if (held == value) {
    const bool returns_itself =
        PyFunction_Check(value) || Py_TYPE(value)->tp_descr_get == nullptr;
    return returns_itself ? Label::of_attribute(name)
                          : Label::of_key(".__dict__", name);
  }
  // The metaclass may have replaced the value, as an enumeration does by a member.
  const Ref in_member = new_text("_value_");
  if (held != nullptr && has_in_dict(held, in_member.get(), value)) {
    return Label::of_attribute(name, "._value_");
  }
  return Label::of_key("<state>", name);
}

// The name of an attribute of `owner` whose value is `value` itself, in the dict or in
// a slot; null if there is none, or if there are too many to compare.
Ref find_attribute(PyObject* owner, PyObject* value) {
  if (overrides_getattribute(Py_TYPE(owner))) return {};
  if (Ref name = find_in_dict(owner, value)) return name;
  for (PyTypeObject* type : mro_of(Py_TYPE(owner))) {
    if (Ref name = find_in_slots(type, owner, value)) return name;
  }
  return {};
}

// Whether `owner[...]` returns the item that the reducer returned. False if __getitem__
// is in Python, since it may return anything.
bool gives_item(PyObject* owner, const Label& label, PyObject* item) {
  if (PyList_CheckExact(owner) || PyTuple_CheckExact(owner) ||
      PyDict_CheckExact(owner)) {
    return true;
  }
  if (has_method_in_python(Py_TYPE(owner), "__getitem__")) return false;
  const bool is_index = label.style == Label::Style::kIndex;
  if (PyList_Check(owner)) {
    return is_index && label.index < PyList_GET_SIZE(owner) &&
           PyList_GET_ITEM(owner, label.index) == item;
  }
  if (is_index) return PySequence_Check(owner) != 0;
  // Comparing keys other than str may run code of the program.
  if (PyDict_Check(owner) && PyUnicode_CheckExact(label.name.get())) {
    return raw_get(owner, label.name.get()) == item;
  }
  return PyMapping_Check(owner) != 0;
}

bool is_argument(const Label& label) {
  return label.style == Label::Style::kNumbered &&
         std::strcmp(label.text, "argument") == 0;
}

bool is_state(const Label& label) {
  return label.style == Label::Style::kMarker && std::strcmp(label.text, "state") == 0;
}

// Whether the step leads to a tuple or list that contains the parts of the state.
bool is_sequence_of_state(const WalkStep& step) {
  return is_state(*step.label) && step.object != nullptr &&
         (PyTuple_CheckExact(step.object) || PyList_CheckExact(step.object));
}

bool is_item(const Label& label) {
  return label.text[0] == '\0' &&
         (label.style == Label::Style::kIndex || label.style == Label::Style::kKey);
}

// A named tuple is reduced to a call with its items.
bool is_item_of_tuple(const WalkStep& step) {
  const Py_ssize_t index = step.label->index;
  return PyTuple_Check(step.owner) && index < PyTuple_GET_SIZE(step.owner) &&
         PyTuple_GET_ITEM(step.owner, index) == step.object;
}

}  // namespace

Label label_in_state(PyObject* owner, PyObject* name, PyObject* value) {
  if (PyType_Check(owner)) return label_in_class(owner, name, value);
  if (PyFunction_Check(owner) || PyModule_Check(owner)) {
    return Label::of_attribute(name);
  }
  PyObject* class_attribute = _PyType_Lookup(Py_TYPE(owner), name);
  const bool is_own = value != nullptr && has_in_dict(owner, name, value);
  if (overrides_getattribute(Py_TYPE(owner)) ||
      (!is_own && !is_field(class_attribute))) {
    return Label::of_key("<state>", name);
  }
  return is_own && is_data_descriptor(class_attribute)
             ? Label::of_key(".__dict__", name)
             : Label::of_attribute(name);
}

PathStep path_step(const WalkStep* around, const WalkStep& step) {
  const Label& label = *step.label;
  if (step.object == nullptr) return {step.owner, label};
  if (is_argument(label) && is_item_of_tuple(step)) {
    return {nullptr, Label::of_index("", label.index)};
  }
  if (is_argument(label) || is_state(label)) {
    if (const Ref name = find_attribute(step.owner, step.object)) {
      return {nullptr, Label::of_attribute(name.get())};
    }
  }
  if (label.style == Label::Style::kIndex && around != nullptr &&
      is_sequence_of_state(*around) && !find_attribute(around->owner, around->object)) {
    const Ref name = find_attribute(around->owner, step.object);
    if (name) return {nullptr, Label::of_attribute(name.get()), true};
  }
  if (!is_item(label) || gives_item(step.owner, label, step.object)) {
    return {step.owner, label};
  }
  return {nullptr, label.style == Label::Style::kKey
                       ? Label::of_named("item", label.name.get())
                       : Label::of_numbered("item", label.index)};
}

}  // namespace waybill::py
