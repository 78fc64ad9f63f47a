#pragma once

#include <Python.h>

#include "python/runtime/compat.h"
#include "python/runtime/objects.h"
#include "python/runtime/ref.h"

namespace waybill::py {

inline Ref interned(const char* text) {
  return Ref::steal(PyUnicode_InternFromString(text));
}

// getattr(object, name). Unlike PyObject_GetAttrString it uses an interned str:
// CPython's cache of type attributes keeps each str that it is asked for.
inline Ref get_attribute(PyObject* object, const char* name) {
  return Ref::steal(PyObject_GetAttr(object, interned(name).get()));
}

inline Ref get_attribute(PyObject* object, const Ref& name) {
  return Ref::steal(PyObject_GetAttr(object, name.get()));
}

// Clears the current error if it is an `exception_type`, and throws PyError for any
// other. For C functions that raise when they find nothing.
inline void ignore_error(PyObject* exception_type) {
  if (!PyErr_Occurred()) return;
  if (!PyErr_ExceptionMatches(exception_type)) throw PyError();
  PyErr_Clear();
}

// The result of a C function; null if it has failed with an error of this kind. Throws
// PyError for any other error.
inline Ref steal_unless(PyObject* kind, PyObject* result) {
  if (result == nullptr) ignore_error(kind);
  return Ref::steal_or_null(result);
}

// Takes the current error away and returns it as an exception; null if there is none.
inline Ref take_error() {
  PyObject *type, *raised, *traceback;
  PyErr_Fetch(&type, &raised, &traceback);
  if (type == nullptr) return {};
  PyErr_NormalizeException(&type, &raised, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(raised, traceback);
  const Ref owned[] = {Ref::steal_or_null(type), Ref::steal_or_null(traceback)};
  return Ref::steal_or_null(raised);
}

// Sets an error that take_error() returned, or clears the current one for null.
inline void restore_error(Ref raised) {
  if (!raised) return PyErr_Clear();
  PyObject* type = type_of(raised.get());
  PyObject* traceback = PyException_GetTraceback(raised.get());
  PyErr_Restore(Ref::share(type).release(), raised.release(), traceback);
}

// The instance's own dict; null if it has none.
inline Ref instance_dict(PyObject* object) {
  return steal_unless(PyExc_AttributeError, PyObject_GenericGetDict(object, nullptr));
}

// The version of a type. Looking up `name` assigns a version if there is none; 0 if the
// type cannot have one. Calls neither the metaclass nor descriptors, as getattr would.
inline std::uint32_t assigned_version(PyTypeObject* type, PyObject* name) {
  if (const std::uint32_t version = type_version(type)) return version;
  if (_PyType_Lookup(type, name) == nullptr) PyErr_Clear();
  return type_version(type);
}

}  // namespace waybill::py
