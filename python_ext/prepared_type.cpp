// The type PreparedCall. Tested by tests/python/api/test_prepare.py.

#include <memory>
#include <utility>

#include "conversions.h"
#include "documentation.h"
#include "methods.h"
#include "options.h"
#include "python/prepared_call.h"

namespace waybill::extension {
namespace {

struct PreparedObject {
  PyObject_HEAD py::PreparedCall* call;  // Null once the collector has cleared it.
  PyObject* key;                         // The capsule of the signing key.
  PyObject* warn;  // Called for payloads above `warn_above`, or null.
  Py_ssize_t warn_above;
};

PreparedObject& fields_of(PyObject* self) {
  return *reinterpret_cast<PreparedObject*>(self);
}

py::PreparedCall& call_of(PyObject* self) {
  py::PreparedCall* call = fields_of(self).call;
  if (call != nullptr) return *call;
  py::raise(PyExc_ReferenceError,
            "the prepared call was garbage-collected; make it again with prepare()");
}

// Calls `warn` if the payload is large.
void warn_if_large(PyObject* self, PyObject* payload, const Ref& positional,
                   const Ref& named) {
  const PreparedObject& fields = fields_of(self);
  if (fields.warn == nullptr || PyBytes_GET_SIZE(payload) <= fields.warn_above) return;
  const Ref size = Ref::steal(PyLong_FromSsize_t(PyBytes_GET_SIZE(payload)));
  const Ref warn = Ref::share(fields.warn);  // The call may clear the field.
  py::call(warn.get(), size.get(), positional.get(), named.get());
}

// Warns if the function alone is large, and adds its size to the threshold of calls, so
// that these warn of large arguments.
void warn_if_function_is_large(PyObject* self) {
  const Ref positional = Ref::steal(PyTuple_New(0));
  const Ref named = Ref::steal(PyDict_New());
  const Ref payload = call_of(self).encode(positional, named);
  PreparedObject& fields = fields_of(self);
  warn_if_large(self, payload.get(), positional, named);
  const Py_ssize_t size = PyBytes_GET_SIZE(payload.get());
  if (size > fields.warn_above) fields.warn_above += size;
}

// PreparedCall(function, options, warn_above, warn): `options` are those of encode().
// warn(size, args, kwargs) is called for payloads of more than `warn_above` bytes; 0:
// never.
PyObject* new_prepared_call(PyTypeObject* type, PyObject* arguments,
                            PyObject* keywords) {
  return guarded([&] {
    PyObject *function, *given_options;
    PyObject* warn = nullptr;
    Py_ssize_t warn_above = 0;
    if (keywords != nullptr && PyDict_GET_SIZE(keywords) != 0) {
      py::raise(PyExc_TypeError, "PreparedCall() takes no keyword arguments");
    }
    if (!PyArg_ParseTuple(arguments, "OO|nO:PreparedCall", &function, &given_options,
                          &warn_above, &warn)) {
      throw PyError();
    }
    const EncodeOptions options(given_options);
    auto& state = *static_cast<State*>(PyType_GetModuleState(type));
    auto call = std::make_unique<py::PreparedCall>(state, function, options.hooks);
    Ref self = Ref::steal(type->tp_alloc(type, 0));
    fields_of(self.get()).call = call.release();
    fields_of(self.get()).key = Ref::share(options.key).release();
    if (warn_above <= 0 || warn == nullptr) return self;
    fields_of(self.get()).warn = Ref::share(warn).release();
    fields_of(self.get()).warn_above = warn_above;
    warn_if_function_is_large(self.get());
    return self;
  });
}

PyObject* dumps(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                PyObject* names) {
  return guarded([&] {
    const py::PreparedCall& call = call_of(self);
    Ref positional = Ref::steal(PyTuple_New(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyTuple_SET_ITEM(positional.get(), i, Ref::share(arguments[i]).release());
    }
    Ref named = Ref::steal(PyDict_New());
    const Py_ssize_t name_count = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < name_count; ++i) {
      check(PyDict_SetItem(named.get(), PyTuple_GET_ITEM(names, i),
                           arguments[count + i]));
    }
    const Ref held = Ref::share(self);  // Reducers of arguments may drop `self`.
    if (fields_of(self).warn == nullptr) {
      return call.encode(std::move(positional), std::move(named));
    }
    Ref payload = call.encode(positional, named);
    warn_if_large(self, payload.get(), positional, named);
    return payload;
  });
}

PyObject* refresh(PyObject* self, PyObject*) {
  return guarded([&] { call_of(self).refresh(); });
}

PyObject* digest(PyObject* self, void*) {
  return guarded([&] { return call_of(self).digest(); });
}

PyObject* function(PyObject* self, void*) {
  return guarded([&] { return Ref::share(call_of(self).function()); });
}

PyObject* represent(PyObject* self) {
  return guarded([&] {
    return Ref::steal(
        PyUnicode_FromFormat("<waybill.PreparedCall of %R>", call_of(self).function()));
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(fields_of(self).warn);
  const py::PreparedCall* call = fields_of(self).call;
  return call == nullptr ? 0 : call->traverse(visit, arg);
}

int clear(PyObject* self) {
  delete std::exchange(fields_of(self).call, nullptr);
  static_cast<void>(Ref::steal_or_null(std::exchange(fields_of(self).key, nullptr)));
  static_cast<void>(Ref::steal_or_null(std::exchange(fields_of(self).warn, nullptr)));
  return 0;
}

void destroy_prepared(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear(self);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  static_cast<void>(Ref::steal_or_null(reinterpret_cast<PyObject*>(type)));
}

PyMethodDef kMethods[] = {
    {"dumps", as_cfunction(dumps), METH_FASTCALL | METH_KEYWORDS, kPreparedDumpsDoc},
    {"refresh", refresh, METH_NOARGS, kPreparedRefreshDoc},
    {},  // Ends the table.
};

PyGetSetDef kFields[] = {
    {"digest", digest, nullptr, kPreparedDigestDoc, nullptr},
    {"function", function, nullptr, "The function that was prepared.", nullptr},
    {},  // Ends the table.
};

template <typename Function>
void* slot(Function function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void add_prepared_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>(kPreparedDoc)},
      {Py_tp_new, slot(new_prepared_call)},
      {Py_tp_methods, kMethods},
      {Py_tp_getset, kFields},
      {Py_tp_repr, slot(represent)},
      {Py_tp_traverse, slot(traverse)},
      {Py_tp_clear, slot(clear)},
      {Py_tp_dealloc, slot(destroy_prepared)},
      {0, nullptr},
  };
  PyType_Spec spec = {
      "waybill.calls.PreparedCall",
      sizeof(PreparedObject),
      0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
      slots,
  };
  const Ref type = Ref::steal(PyType_FromModuleAndSpec(module, &spec, nullptr));
  check(PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type.get())));
}

}  // namespace waybill::extension
