#pragma once

// Conversions between Python and C++ values, and the wrapper around each function of
// the extension, which converts exceptions.

#include <Python.h>

#include <concepts>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>

#include "python/encode/encode_hooks.h"
#include "python/runtime/py_error.h"
#include "python/runtime/ref.h"
#include "python/runtime/state.h"
#include "python/runtime/text.h"
#include "thread_start.h"
#include "waybill/buffers.h"
#include "waybill/manifest.h"

namespace waybill::extension {

using py::check;
using py::new_bytes;
using py::new_list;
using py::new_text;
using py::PyError;
using py::Ref;
using py::require;
using py::State;

inline State& state_of(PyObject* module) {
  return *static_cast<State*>(PyModule_GetState(module));
}

// Calls a function that returns a Ref, or void for None. The one place where C++
// exceptions become Python ones.
template <typename Function>
PyObject* guarded(Function function) {
  if (!can_throw()) return PyErr_NoMemory();
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Function>>) {
      function();
      Py_RETURN_NONE;
    } else {
      return function().release();
    }
  } catch (const PyError&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_SystemError, error.what());
    return nullptr;
  }
}

// The bytes of a bytes-like object. Mutable memory, such as a bytearray's, is copied:
// the program could change it between verification and decoding.
class Input {
 public:
  explicit Input(PyObject* object)
      : bytes_(PyBytes_CheckExact(object) ? Ref::share(object) : copy_of(object)) {}

  BytesView bytes() const { return py::bytes_of(bytes_.get()); }

 private:
  static Ref copy_of(PyObject* object) {
    Py_buffer buffer;
    check(PyObject_GetBuffer(object, &buffer, PyBUF_SIMPLE));
    Ref bytes = Ref::steal_or_null(
        PyBytes_FromStringAndSize(static_cast<const char*>(buffer.buf), buffer.len));
    PyBuffer_Release(&buffer);
    if (!bytes) throw PyError();
    return bytes;
  }

  Ref bytes_;
};

// Converts a C++ value to a Python object.
inline Ref to_object(const Ref& object) { return object; }
inline Ref to_object(std::string_view view) { return new_text(view); }
inline Ref to_object(bool value) { return Ref::share(value ? Py_True : Py_False); }
template <std::unsigned_integral Number>
Ref to_object(Number number) {
  return Ref::steal(PyLong_FromUnsignedLongLong(number));
}
Ref to_object(const char*) = delete;  // It would become a bool.

template <typename... Values>
Ref tuple_of(const Values&... values) {
  Ref tuple = Ref::steal(PyTuple_New(sizeof...(values)));
  Py_ssize_t index = 0;
  (PyTuple_SET_ITEM(tuple.get(), index++, to_object(values).release()), ...);
  return tuple;
}

// The fields of an ImportRecord in Python.
inline Ref row_of(const ImportRecord& record) {
  return tuple_of(record.module, name_of(record.time), record.chain, record.function,
                  record.file, record.line);
}

inline PyObject* none_to_null(PyObject* object) {
  return object == Py_None ? nullptr : object;
}

inline std::uint64_t number_of(PyObject* number) {
  const unsigned long long value = PyLong_AsUnsignedLongLong(number);
  check(PyErr_Occurred() ? -1 : 0);
  return value;
}

inline long signed_number_of(PyObject* number) {
  const long value = PyLong_AsLong(number);
  check(PyErr_Occurred() ? -1 : 0);
  return value;
}

// The compression level of zstd; 0: no compression.
inline int compression_level_of(PyObject* number) {
  const long level = signed_number_of(number);
  if (level >= kFastestLevel && level <= kSmallestLevel) {
    return static_cast<int>(level);
  }
  py::raise(PyExc_ValueError, "the compression level should be -7 to 19, got %ld",
            level);
}

// The enumerator with this number.
inline py::SourceUse source_use_of(PyObject* number) {
  const long use = signed_number_of(number);
  if (use >= 0 && use <= static_cast<long>(py::SourceUse::kDemanded)) {
    return static_cast<py::SourceUse>(use);
  }
  py::raise(PyExc_ValueError, "the use of source should be 0, 1 or 2, got %ld", use);
}

inline bool is_true(PyObject* object) { return check(PyObject_IsTrue(object)) != 0; }

// A capsule that owns a value; `name` identifies the type.
template <typename T>
Ref to_capsule(std::unique_ptr<T> value, const char* name) {
  Ref capsule = Ref::steal(PyCapsule_New(value.get(), name, [](PyObject* object) {
    delete static_cast<T*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
  }));
  static_cast<void>(value.release());
  return capsule;
}

template <typename T>
T& content_of(PyObject* capsule, const char* name) {
  void* held = PyCapsule_GetPointer(capsule, name);
  if (held == nullptr) throw PyError();
  return *static_cast<T*>(held);
}

inline void demand_count(Py_ssize_t count, Py_ssize_t expected) {
  if (count == expected) return;
  py::raise(PyExc_TypeError, "expected %zd arguments, got %zd", expected, count);
}

template <typename Function>
PyCFunction as_cfunction(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

// A row of a method table. The function gets the module, and either `kCount` arguments,
// or one or none, as `flags` says. `doc` is for public functions; _core.pyi describes
// the others.
template <auto kFunction, Py_ssize_t kCount = 1>
PyMethodDef method(const char* name, int flags = METH_O, const char* doc = nullptr) {
  if constexpr (std::is_invocable_v<decltype(kFunction), PyObject*, PyObject**>) {
    const auto call = [](PyObject* module, PyObject* const* arguments,
                         Py_ssize_t count) {
      return guarded([&] {
        demand_count(count, kCount);
        return kFunction(module, arguments);
      });
    };
    return {name, as_cfunction(+call), METH_FASTCALL, doc};
  } else {
    const auto call = [](PyObject* module, PyObject* argument) {
      return guarded([&] { return kFunction(module, argument); });
    };
    return {name, call, flags, doc};
  }
}

}  // namespace waybill::extension
