// Functions about payloads of which not all has arrived.
// Tested by tests/python/streams/test_streams.py.

#include <Python.h>

#include <memory>

#include "border.h"
#include "methods.h"
#include "python/load_options.h"
#include "python/stored_rows.h"
#include "waybill/stream_length.h"

namespace waybill::extension {

namespace {

constexpr char kStreamLengthCapsule[] = "waybill.StreamLength";

StreamLength& stream_length_of(PyObject* capsule) {
  return held_by<StreamLength>(capsule, kStreamLengthCapsule);
}

PyObject* stream_length(PyObject*, PyObject* load_options) {
  return guarded([&] {
    const Gate gate(load_options == Py_None ? LoadOptions{}
                                            : py::load_options_of(load_options));
    return to_capsule(std::make_unique<StreamLength>(gate.limits()),
                      kStreamLengthCapsule);
  });
}

PyObject* measure(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    demand_count("measure", count, 2);
    StreamLength& stream_length = stream_length_of(arguments[0]);
    if (!PyByteArray_Check(arguments[1])) {
      PyErr_SetString(PyExc_TypeError, "measure() looks into a bytearray");
      throw PyError();
    }
    // Not copied: the GIL is held, and what is measured is checked by loads() anyway.
    const BytesView bytes(
        reinterpret_cast<const std::uint8_t*>(PyByteArray_AS_STRING(arguments[1])),
        static_cast<std::size_t>(PyByteArray_GET_SIZE(arguments[1])));
    return Ref::steal(PyLong_FromSize_t(stream_length.measure(bytes).missing));
  });
}

PyObject* stored_rows(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    demand_count("stored_rows", count, 2);
    const Gate gate(arguments[1] == Py_None ? LoadOptions{}
                                            : py::load_options_of(arguments[1]));
    const Input head(arguments[0]);
    return py::stored_rows(state_of(module), head.bytes(), gate);
  });
}

PyObject* new_buffer(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    demand_count("new_buffer", count, 2);
    const long kind = PyLong_AsLong(arguments[0]);
    const unsigned long long length = PyLong_AsUnsignedLongLong(arguments[1]);
    check(PyErr_Occurred() ? -1 : 0);
    return py::buffer_to_fill(kind, length);
  });
}

PyObject* address_of(PyObject*, PyObject* buffer) {
  return guarded([&] { return py::address_of(buffer); });
}

PyObject* advise_large_pages(PyObject*, PyObject* buffer) {
  return guarded([&] {
    py::advise_large_pages(buffer);
    return Ref::share(Py_None);
  });
}

PyObject* copy_buffer(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    demand_count("copy_buffer", count, 2);
    py::copy_buffer(arguments[0], arguments[1]);
    return Ref::share(Py_None);
  });
}

PyObject* head_size(PyObject*, PyObject* capsule) {
  return guarded([&] {
    return Ref::steal(PyLong_FromSize_t(stream_length_of(capsule).head_size()));
  });
}

}  // namespace

PyMethodDef kStreamMethods[] = {
    {"stream_length", stream_length, METH_O,
     "stream_length(load_options, /) -> capsule"},
    {"measure", fast(measure), METH_FASTCALL,
     "measure(stream_length, data, /) -> bytes that are missing at least"},
    {"head_size", head_size, METH_O,
     "head_size(stream_length, /) -> bytes of the head, once all of it was measured"},
    {"stored_rows", fast(stored_rows), METH_FASTCALL,
     "stored_rows(head, load_options, /) -> list of (kind, offset, length)"},
    {"new_buffer", fast(new_buffer), METH_FASTCALL,
     "new_buffer(kind, length, /) -> (object, memoryview of its bytes)"},
    {"address_of", address_of, METH_O, "address_of(buffer, /) -> int"},
    {"advise_large_pages", advise_large_pages, METH_O,
     "advise_large_pages(buffer, /) -> None"},
    {"copy_buffer", fast(copy_buffer), METH_FASTCALL,
     "copy_buffer(target, source, /) -> None"},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace waybill::extension
