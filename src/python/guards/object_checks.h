#pragma once

// Single looks at the program, of which the guards of a node are made.

#include <Python.h>

#include <cstdint>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// What a namespace says of itself: text, None, as a script's __package__, or nothing.
bool is_text_or_none(PyObject* object);

// Whether an object is compared by type and value: a number, a singleton, or text or
// bytes that are not too long to be held.
bool is_constant(PyObject* object);
// Whether a value is written as this constant is.
bool is_same_constant(PyObject* known, PyObject* value);

// An equal text or bytes: to hold it is not to refer to the leaf.
Ref copy_of_leaf(PyObject* leaf);

// Whether guards compare all that is in it, whatever that is: an exact tuple, list,
// dict or set.
bool is_guarded_container(PyObject* value);

// Whether a user has registered what takes such an object apart.
bool is_reduced_by_user(const State& state, PyObject* object);

// Whether an object still says that it is found there. What is written in C has its
// name for ever, but for the name of a function's module.
bool names_place(const State& state, PyObject* object, PyObject* module,
                 PyObject* name);

// That a namespace may be of a module which can be imported, and has what does not say
// so.
inline constexpr std::uint32_t kMayBeImported = 4;

// What decides how a namespace of this __name__ is written, besides its names.
std::uint32_t namespace_bits(const State& state, PyObject* globals, PyObject* name);

// The id under which a class travels; null if it has none.
PyObject* known_id(const State& state, PyObject* type);

}  // namespace waybill::py
