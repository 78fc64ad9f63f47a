// Functions about payloads of which not all has arrived.
// Tested by tests/python/streams/test_streams.py.

#include "stream_methods.h"

#include <Python.h>

#include <memory>

#include "border.h"
#include "python/terms.h"
#include "waybill/measurer.h"

namespace waybill::extension {

namespace {

constexpr char kMeasurerCapsule[] = "waybill.Measurer";

void free_measurer(PyObject* capsule) {
  delete static_cast<Measurer*>(PyCapsule_GetPointer(capsule, kMeasurerCapsule));
}

PyObject* measurer(PyObject*, PyObject* terms) {
  return guarded([&] {
    const Admission admission(terms == Py_None ? Terms{} : py::terms_of(terms));
    auto measurer = std::make_unique<Measurer>(admission.limits());
    Ref capsule =
        Ref::steal(PyCapsule_New(measurer.get(), kMeasurerCapsule, free_measurer));
    measurer.release();
    return capsule;
  });
}

PyObject* measure(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    demand_count("measure", count, 2);
    auto* measurer =
        static_cast<Measurer*>(PyCapsule_GetPointer(arguments[0], kMeasurerCapsule));
    if (measurer == nullptr) throw PyError();
    if (!PyByteArray_Check(arguments[1])) {
      PyErr_SetString(PyExc_TypeError, "measure() looks into a bytearray");
      throw PyError();
    }
    // Not copied: the GIL is held, and what is measured is checked by loads() anyway.
    const BytesView bytes(
        reinterpret_cast<const std::uint8_t*>(PyByteArray_AS_STRING(arguments[1])),
        static_cast<std::size_t>(PyByteArray_GET_SIZE(arguments[1])));
    return Ref::steal(PyLong_FromSize_t(measurer->measure(bytes).missing));
  });
}

}  // namespace

PyMethodDef kStreamMethods[] = {
    {"measurer", measurer, METH_O, "measurer(terms, /) -> capsule"},
    {"measure", fast(measure), METH_FASTCALL,
     "measure(measurer, data, /) -> bytes that are missing at least"},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace waybill::extension
