#pragma once

// What among the attributes of a class is a method: code, which comes from the program
// that sends the class. All else is state, which is the receiver's.

#include <Python.h>

#include <optional>
#include <span>
#include <vector>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The names under which a classmethod, staticmethod, property, cached_property or
// partialmethod has the functions that it calls; none for all else.
std::span<const char* const> wrapped_in(const State& state, PyObject* attribute);

// Whether it is a function, or one of these and what is derived from them around
// functions alone.
bool is_method(const State& state, PyObject* attribute);

// Whether two methods of one kind run different code.
bool has_other_code(const State& state, PyObject* own, PyObject* value);

// Makes a dict or set equal to another of its kind, in its order, in one step for
// whoever has the interpreter's lock: hashes are taken over, and what goes is dropped
// last. Keys that are equal must be equal without code of their own.
void replace_items(PyObject* target, PyObject* source);

// Whether code, or code in it, may change the globals it runs with: by a statement, or
// by one of the names that lead to them.
bool may_write_globals(PyObject* code);

// The names in code, and in code in it, that mean functions by value in these globals.
// Nothing where code cannot be read.
std::optional<std::vector<Ref>> names_of_functions(const State& state, PyObject* code,
                                                   PyObject* globals);

}  // namespace waybill::py
