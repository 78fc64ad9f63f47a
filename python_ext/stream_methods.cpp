// Functions for payloads that are received in pieces.
// Tested by tests/python/streams/test_streams.py.

#include <Python.h>

#include <memory>

#include "conversions.h"
#include "methods.h"
#include "python/capsules.h"
#include "python/stored_rows.h"
#include "waybill/stream_length.h"

namespace waybill::extension {

namespace {

constexpr char kStreamLengthCapsule[] = "waybill.StreamLength";

StreamLength& stream_length_of(PyObject* capsule) {
  return content_of<StreamLength>(capsule, kStreamLengthCapsule);
}

Ref stream_length(PyObject*, PyObject* load_options) {
  const Gate gate(py::load_options_of(load_options));
  return to_capsule(std::make_unique<StreamLength>(gate.limits()),
                    kStreamLengthCapsule);
}

Ref measure(PyObject*, PyObject* const* arguments) {
  StreamLength& stream_length = stream_length_of(arguments[0]);
  if (!PyByteArray_Check(arguments[1])) {
    py::raise(PyExc_TypeError, "measure() takes a bytearray");
  }
  // Not copied: the GIL is held, and loads() checks the bytes later.
  const BytesView bytes(
      reinterpret_cast<const std::uint8_t*>(PyByteArray_AS_STRING(arguments[1])),
      static_cast<std::size_t>(PyByteArray_GET_SIZE(arguments[1])));
  return to_object(stream_length.measure(bytes).missing);
}

Ref stored_rows(PyObject* module, PyObject* const* arguments) {
  const Gate gate(py::load_options_of(arguments[1]));
  const Input head(arguments[0]);
  return py::stored_rows(state_of(module), head.bytes(), gate);
}

Ref new_buffer(PyObject*, PyObject* const* arguments) {
  const long kind = signed_number_of(arguments[0]);
  return py::buffer_to_fill(kind, number_of(arguments[1]));
}

Ref address_of(PyObject*, PyObject* buffer) { return py::address_of(buffer); }

void advise_large_pages(PyObject*, PyObject* buffer) { py::advise_large_pages(buffer); }

void copy_buffer(PyObject*, PyObject* const* arguments) {
  py::copy_buffer(arguments[0], arguments[1]);
}

Ref head_size(PyObject*, PyObject* capsule) {
  return to_object(stream_length_of(capsule).head_size());
}

}  // namespace

PyMethodDef kStreamMethods[] = {
    method<stream_length>("stream_length"),
    method<measure, 2>("measure"),
    method<head_size>("head_size"),
    method<stored_rows, 2>("stored_rows"),
    method<new_buffer, 2>("new_buffer"),
    method<address_of>("address_of"),
    method<advise_large_pages>("advise_large_pages"),
    method<copy_buffer, 2>("copy_buffer"),
    {},  // Ends the table.
};

}  // namespace waybill::extension
