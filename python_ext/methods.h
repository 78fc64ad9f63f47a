#pragma once

// What the functions of the extension module share, whatever file they are in: each
// parses its arguments, calls one C++ function and converts.

#include <Python.h>

#include <exception>
#include <new>
#include <string_view>

#include "python/py_error.h"
#include "python/ref.h"
#include "python/state.h"

namespace waybill::extension {

using py::check;
using py::PyError;
using py::Ref;
using py::State;

// Functions about what is let in: admission.cpp.
extern PyMethodDef kAdmissionMethods[];
// The presets that Python has under these names too. Throws PyError.
void add_admission_constants(PyObject* module);

inline State& state_of(PyObject* module) {
  return *static_cast<State*>(PyModule_GetState(module));
}

// The one place where C++ exceptions become Python ones.
template <typename Function>
PyObject* guarded(Function function) {
  try {
    return function().release();
  } catch (const PyError&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_SystemError, error.what());
    return nullptr;
  }
}

inline Ref text(std::string_view view) {
  return Ref::steal(PyUnicode_DecodeUTF8(
      view.data(), static_cast<Py_ssize_t>(view.size()), "surrogatepass"));
}

// An option that was given; null for None.
inline PyObject* given(PyObject* object) {
  return object == Py_None ? nullptr : object;
}

inline void demand_count(const char* name, Py_ssize_t count, Py_ssize_t expected) {
  if (count == expected) return;
  PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, %zd were given", name,
               expected, count);
  throw PyError();
}

// A METH_FASTCALL function, as the table wants it.
template <typename Function>
PyCFunction fast(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace waybill::extension
