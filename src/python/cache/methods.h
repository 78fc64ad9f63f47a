#pragma once

// Finds out which attributes of a class are methods, that is, code. The sender's
// methods replace the receiver's; all other attributes are state, which the receiver
// keeps.

#include <Python.h>

#include <optional>
#include <span>
#include <vector>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The deepest nesting of wrappers around a method that is looked into.
inline constexpr int kMaxWrapperDepth = 8;

// The names of the attributes in which a classmethod, staticmethod, property,
// cached_property or partialmethod holds the functions that it calls; none for other
// objects.
std::span<const char* const> function_attributes_of(const State& state,
                                                    PyObject* attribute);

// Whether an attribute is a function, or a wrapper of such a type, or of one derived
// from it, that holds functions only. `depth`: the number of wrappers around it.
bool is_method(const State& state, PyObject* attribute, int depth = 0);

// Whether two methods of one type run different code.
bool has_other_code(const State& state, PyObject* own, PyObject* value);

// Replaces the items of a dict by those of another, in the order of the other. Other
// threads see either all old or all new items: no key is hashed anew, and old items are
// dropped last. Comparing the keys must run no foreign code.
void replace_items(PyObject* target, PyObject* source);

// A new descriptor of a name in the __slots__ that a class was made with; null if that
// has no such name. `name`: as it is in the class, mangled.
Ref slot_descriptor(PyObject* type, PyObject* name);

// Whether code, or code nested in it, can change its globals: by a statement, or
// through a name such as `globals`.
bool can_write_globals(PyObject* code);

// The names in code, and in code nested in it, that denote functions by value in these
// globals. Nothing if the instructions cannot be read.
std::optional<std::vector<Ref>> names_of_functions(const State& state, PyObject* code,
                                                   PyObject* globals);

}  // namespace waybill::py
