#pragma once

// What the types of STANDARD_TYPES are made of where limits are strict: a row for each
// with what its calls and its state may hold. What the type itself writes fits in. All
// else that its code would take, a sender can make take for ever, or fill memory with.

#include <Python.h>

#include <cstdint>
#include <span>

#include "python/decode/graph_decoder.h"

namespace waybill::py {

struct StandardType;

// The row of what is called; null if it has none, or the gate of the decoder holds
// nothing to the table: a policy and limits that count keys do.
const StandardType* standard_type(const GraphDecoder& decoder, PyObject* callable);

// Refuses a call of the type with other arguments. What it would take in memory counts.
void demand_arguments(GraphDecoder& decoder, const StandardType& type,
                      std::span<PyObject* const> arguments);
// Refuses other contents for what the call gave: state, so many items and pairs.
// `has_setter`: somebody else is to set the state.
void demand_contents(GraphDecoder& decoder, const StandardType& type, PyObject* state,
                     Py_ssize_t item_count, Py_ssize_t pair_count, bool has_setter);

// Refuses a callable for an instance's dict that would take the place of a method:
// where no code is let in, state calls nothing. `is_set`: by setattr, which may also
// replace the whole dict, or the class.
void demand_no_shadow(GraphDecoder& decoder, PyObject* object, PyObject* name,
                      PyObject* value, bool is_set);

}  // namespace waybill::py
