#pragma once

// All of waybill. Each header can be included by itself:
//
// waybill::core, without Python
//   envelope.h     open and verify a payload; put one together
//   buffers.h      arrays after a payload, as they are in memory
//   stream_length.h  find the end of an envelope in a stream
//   manifest.h     what a payload needs to be importable, and why
//   report.h       a payload as text or JSON
//   diff.h         what differs between two envelopes, and why
//   signature.h    keys; sign envelopes, and verify signatures
//   policy.h       rules about modules, names, calls and code
//   gate.h         signature, limits and policy in one place
//   limits.h       limits for hostile input
//   value.h        plain data and arrays as C++ values; value_json.h: as JSON
//   parts.h        what is in a large file, part by part; mapped_file.h: the file
//   explanation.h  how many bytes each object contributes, and its path
//   outcome.h      the outcome of a call that was not made
//   bytecode.h     what a code object does with the values it loads
//   error.h        errors are values: Result<T>
//   bytes.h        views of bytes
//
// waybill::python, with Python inside of the program
//   interpreter.h  start and finish Python
//   gil.h          acquire and release the GIL
//   object.h       encode and decode Python objects
//   call.h         make a call, and encode its outcome

#include "waybill/buffers.h"
#include "waybill/bytecode.h"
#include "waybill/bytes.h"
#include "waybill/call.h"
#include "waybill/diff.h"
#include "waybill/envelope.h"
#include "waybill/error.h"
#include "waybill/explanation.h"
#include "waybill/gate.h"
#include "waybill/gil.h"
#include "waybill/interpreter.h"
#include "waybill/limits.h"
#include "waybill/manifest.h"
#include "waybill/mapped_file.h"
#include "waybill/object.h"
#include "waybill/outcome.h"
#include "waybill/parts.h"
#include "waybill/policy.h"
#include "waybill/report.h"
#include "waybill/signature.h"
#include "waybill/stream_length.h"
#include "waybill/value.h"
#include "waybill/value_json.h"
