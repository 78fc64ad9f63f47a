// The extension module waybill._core: multi-phase init, all state on the module.
// Every function parses its arguments, calls one C++ function and converts.

#include <Python.h>

#include <new>
#include <string>

#include "python/object.h"
#include "python/py_error.h"
#include "python/ref.h"
#include "python/state.h"
#include "waybill/report.h"

namespace {

using waybill::py::check;
using waybill::py::PyError;
using waybill::py::Ref;
using waybill::py::State;

State& state_of(PyObject* module) {
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

// The bytes of a bytes-like object. Memory that somebody else may write to meanwhile,
// such as a bytearray's, is copied: what was verified has to be what is read.
class Input {
 public:
  explicit Input(PyObject* object)
      : bytes_(PyBytes_CheckExact(object) ? Ref::share(object) : copy_of(object)) {}

  waybill::BytesView bytes() const {
    return {reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(bytes_.get())),
            static_cast<std::size_t>(PyBytes_GET_SIZE(bytes_.get()))};
  }

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

Ref text(std::string_view view) {
  return Ref::steal(PyUnicode_DecodeUTF8(
      view.data(), static_cast<Py_ssize_t>(view.size()), "surrogatepass"));
}

waybill::Envelope open_or_raise(State& state, waybill::BytesView bytes) {
  waybill::Result<waybill::Envelope> envelope = waybill::open(bytes);
  if (!envelope) waybill::py::raise(state, envelope.error());
  return std::move(*envelope);
}

PyObject* dumps(PyObject* module, PyObject* object) {
  return guarded([&] { return waybill::py::encode(state_of(module), object); });
}

PyObject* loads(PyObject* module, PyObject* data) {
  return guarded([&] {
    const Input input(data);
    return waybill::py::decode(state_of(module), input.bytes(), {});
  });
}

PyObject* imports(PyObject* module, PyObject* arguments) {
  return guarded([&] {
    PyObject* object = nullptr;
    int by_value = 0;
    if (!PyArg_ParseTuple(arguments, "Op", &object, &by_value)) throw PyError();
    const waybill::Manifest manifest =
        waybill::py::discover(state_of(module), object, by_value != 0);
    Ref records = Ref::steal(PyList_New(0));
    for (const waybill::ImportRecord& record : manifest.imports) {
      const Ref parts[] = {text(record.module), text(waybill::name_of(record.time)),
                           text(record.chain), text(record.function),
                           text(record.file)};
      Ref tuple = Ref::steal(Py_BuildValue("(OOOOOI)", parts[0].get(), parts[1].get(),
                                           parts[2].get(), parts[3].get(),
                                           parts[4].get(), record.line));
      check(PyList_Append(records.get(), tuple.get()));
    }
    return records;
  });
}

PyObject* fingerprint(PyObject* module, PyObject* object) {
  return guarded(
      [&] { return text(waybill::py::fingerprint(state_of(module), object)); });
}

PyObject* inspect(PyObject* module, PyObject* data) {
  return guarded([&] {
    const Input input(data);
    return text(waybill::report_json(open_or_raise(state_of(module), input.bytes())));
  });
}

PyObject* measure(PyObject*, PyObject* data) {
  return guarded([&] {
    const Input input(data);
    const waybill::Extent extent = waybill::measure(input.bytes());
    return Ref::steal(PyLong_FromSize_t(extent.missing));
  });
}

PyMethodDef kMethods[] = {
    {"dumps", dumps, METH_O, "dumps(obj, /) -> bytes"},
    {"loads", loads, METH_O, "loads(data, /) -> object"},
    {"imports", imports, METH_VARARGS, "imports(obj, by_value, /) -> list of tuples"},
    {"fingerprint", fingerprint, METH_O, "fingerprint(obj, /) -> str"},
    {"inspect", inspect, METH_O, "inspect(data, /) -> JSON as str"},
    {"measure", measure, METH_O, "measure(data, /) -> bytes that are missing at least"},
    {nullptr, nullptr, 0, nullptr},
};

int execute(PyObject* module) {
  State* state = new (PyModule_GetState(module)) State;
  PyObject* done = guarded([&] {
    Ref errors = Ref::steal(PyImport_ImportModule("waybill._errors"));
    auto load = [&](const char* name) {
      return Ref::steal(PyObject_GetAttrString(errors.get(), name));
    };
    state->error = load("Error");
    state->encode_error = load("EncodeError");
    state->decode_error = load("DecodeError");
    state->python_mismatch_error = load("PythonMismatchError");
    state->missing_module_error = load("MissingModuleError");
    waybill::py::init_state(*state);
    return Ref::share(Py_None);
  });
  const Ref result = Ref::steal_or_null(done);
  return result ? 0 : -1;
}

int traverse(PyObject* module, visitproc visit, void* arg) {
  void* state = PyModule_GetState(module);
  return state == nullptr
             ? 0
             : waybill::py::traverse_state(*static_cast<State*>(state), visit, arg);
}

int clear(PyObject* module) {
  if (void* state = PyModule_GetState(module)) {
    waybill::py::clear_state(*static_cast<State*>(state));
  }
  return 0;
}

void destroy(void* module) { clear(static_cast<PyObject*>(module)); }

PyModuleDef_Slot kSlots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(execute)},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
    {0, nullptr},
};

PyModuleDef kModule = {
    PyModuleDef_HEAD_INIT,
    "waybill._core",
    nullptr,
    sizeof(State),
    kMethods,
    kSlots,
    traverse,
    clear,
    destroy,
};

}  // namespace

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&kModule); }
