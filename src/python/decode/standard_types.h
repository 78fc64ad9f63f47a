#pragma once

// Restricts the types of STANDARD_TYPES where limits are strict: each has a row with
// the arguments and the state that it accepts. The row accepts all that the type itself
// writes when it is pickled. A sender could choose other arguments, with which the call
// never ends or exhausts memory.

#include <Python.h>

#include <cstdint>
#include <span>

#include "python/decode/graph_decoder.h"

namespace waybill::py {

struct StandardType;

// The row of a callable; null if it has none, or if GraphDecoder::restricts_calls() is
// false.
const StandardType* standard_type(const GraphDecoder& decoder, PyObject* callable);

// Refuses a call with other arguments than the row accepts. Charges the memory of the
// call.
void demand_arguments(GraphDecoder& decoder, const StandardType& type,
                      std::span<PyObject* const> arguments);
// Refuses other state, items or pairs than the row accepts. `has_setter`: whether a
// function of the payload sets the state. Charges the memory.
void demand_contents(GraphDecoder& decoder, const StandardType& type, PyObject* state,
                     Py_ssize_t item_count, Py_ssize_t pair_count, bool has_setter);

// Refuses an attribute value that would replace a method by a callable: where code is
// forbidden, state must not add code. `is_set`: whether setattr is used, which can also
// replace the whole dict or the class.
void demand_no_shadow(GraphDecoder& decoder, PyObject* object, PyObject* name,
                      PyObject* value, bool is_set);

}  // namespace waybill::py
