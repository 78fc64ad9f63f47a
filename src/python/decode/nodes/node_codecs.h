#pragma once

// The functions that build nodes: the rows of NodeCodec, and what they share with the
// decoder.

#include <Python.h>

#include <cstdint>
#include <vector>

#include "python/decode/graph_decoder.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The row of a tag, or null.
const NodeCodec* node_codec(std::uint8_t tag);

// ---- Functions of rows: they run foreign code, and throw PyError ------------------

// The object that the name of a kGlobal node means.
Ref look_up_global(GraphDecoder& decoder, Frame& frame);
// The result of the callable of a kObject node.
Ref call_reducer(GraphDecoder& decoder, Frame& frame);
// The result of the class's __new__, for a kNewObject node.
Ref call_new(GraphDecoder& decoder, Frame& frame);
// Add items, pairs and state to the object of a kObject or kNewObject node.
Ref finish_reduced(GraphDecoder& decoder, Frame& frame);
Ref finish_new(GraphDecoder& decoder, Frame& frame);

// ---- Functions and classes --------------------------------------------------------

// The name of the attribute of a function that a field sets; null if it sets none.
Ref attribute_of_function(const State& state, wire::FunctionField field);
// Applies one field to a function whose new cells are `cells`.
void set_function_field(GraphDecoder& decoder, PyObject* function,
                        const std::vector<Ref>& cells, std::uint64_t field,
                        PyObject* value);
// Sets one attribute of a class, as set_class_attribute() of waybill._classes.making
// does.
void set_class_attribute(const State& state, PyObject* cls, PyObject* name,
                         PyObject* value);

// ---- Opaque objects: placeholders for nodes that cannot be built here -------------
//
// loads(data, code="opaque") asks for them. They show the content of the node, and do
// nothing else. Python's half is waybill._kinds.opaque.

// The error that makes the node of this frame opaque before it is built: its code
// cannot be built, or a part that would make it is opaque itself. Null if there is
// none.
Ref opaque_cause(GraphDecoder& decoder, const Frame& frame);

// Whether a node whose building raised the current exception may become opaque. False
// if the payload is unsound or refused, or if other objects may already refer to the
// object of the node.
bool can_be_opaque(const State& state, const Frame& frame);

// Makes the opaque object of a node. Throws PyError.
Ref make_opaque(GraphDecoder& decoder, const Frame& frame, PyObject* error);

// Adds the parts of the node to its opaque object, once all are complete. Throws
// PyError.
void describe_opaque(GraphDecoder& decoder, const Frame& frame);

}  // namespace waybill::py
