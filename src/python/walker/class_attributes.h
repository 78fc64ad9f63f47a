#pragma once

// Attributes of classes: which of them are methods, and which Python adds itself.
// waybill._classes.parts takes a class apart.

#include <Python.h>

#include "python/runtime/objects.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// Whether an object is a class of exactly enum.EnumType.
bool is_enumeration(const State& state, PyObject* object);
// Whether an object is a class whose metaclass runs no code of the program: `type`,
// ABCMeta or EnumType.
inline bool has_standard_metaclass(const State& state, PyObject* object) {
  return PyType_CheckExact(object) || type_of(object) == state.abc_meta.get() ||
         is_enumeration(state, object);
}

// Whether the parts of a class depend only on the class, its bases and their dicts.
// This holds for classes of a standard metaclass, if no base has an __init_subclass__
// and C code makes no attribute except slots; as long as has_registered_classes() does
// not hold, and each member of an enumeration has a value_of_plain_member(). Cost: a
// few dict look-ups for each base, and a check of each attribute.
bool is_determined_by_dict(const State& state, PyObject* type);

// The members of an enumeration: an exact dict, by name; borrowed. Null if the program
// has replaced it.
PyObject* members_of_enum(const State& state, PyObject* type);
// Whether EnumType has added an attribute to an enumeration, which is not sent.
bool is_derived_by_enum(const State& state, PyObject* type, PyObject* name,
                        PyObject* value);
// The value of a member of an enumeration, if it is all that is sent of the member: the
// member has no other attributes, and as an int or a str it equals its value; else
// null. The version of the class shows no change of a member.
PyObject* value_of_plain_member(const State& state, PyObject* type, PyObject* member);

// Whether classes were registered with an abstract class, which travel with it. The
// version of the class does not show it.
bool has_registered_classes(const State& state, PyObject* type);

// Whether an attribute is the empty __annotations__ that Python adds when the
// annotations of a class without any are read.
bool is_empty_annotations(PyObject* name, PyObject* value);

// Whether an attribute is the descriptor of a name in __slots__. It is not sent.
bool is_slot(PyObject* type, PyObject* value);

// Whether Python itself, and not the author of a class, sets an attribute of this name.
bool is_implicit_attribute(const State& state, PyObject* name);

// Whether a value is exactly a property, classmethod or staticmethod.
bool is_wrapper(PyObject* value);
// The one of property, classmethod and staticmethod that a type is or derives from;
// null if there is none.
PyTypeObject* wrapper_among_bases(PyTypeObject* type);

// Whether a value is a function or a wrapper of one.
inline bool is_method(PyObject* value) {
  return PyFunction_Check(value) || wrapper_among_bases(Py_TYPE(value)) != nullptr;
}

// Whether a wrapper is a classmethod that typing adds to classes.
bool is_added_by_typing(const State& state, PyObject* wrapper);

// Whether a value is the descriptor of a field of a named tuple. The type is known by
// its name only.
bool is_field_of_named_tuple(PyObject* value);

// Whether a value is an empty frozendict (3.15), as the metadata of most fields is. A
// reducer would turn it into a dict.
bool is_empty_frozendict(PyObject* value);

// The arguments, as a tuple, with which the type of a wrapper makes an equal one.
Ref parts_of_wrapper(const State& state, PyObject* wrapper);

}  // namespace waybill::py
