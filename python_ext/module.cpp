// The extension module waybill._core: multi-phase init, all state on the module.
// Every function parses its arguments, calls one C++ function and converts the result.

#include <Python.h>

#include <optional>

#include "conversions.h"
#include "documentation.h"
#include "methods.h"
#include "options.h"
#include "python/capsules.h"
#include "python/device_mapping.h"
#include "python/serializer.h"
#include "waybill/report.h"

namespace {

using namespace waybill::extension;

// Passes the arguments of a vectorcall on to a Python function.
Ref call_with_options(PyObject* function, PyObject* const* arguments, Py_ssize_t count,
                      PyObject* keywords) {
  return Ref::steal(PyObject_Vectorcall(function, arguments,
                                        static_cast<std::size_t>(count), keywords));
}

// Calls `write` for the object; an EncodeError gets an explanation.
Ref encode_or_explain(State& state, PyObject* object,
                      const waybill::py::EncodeHooks& hooks,
                      Ref (*write)(State&, PyObject*,
                                   const waybill::py::EncodeHooks&)) {
  try {
    return write(state, object, hooks);
  } catch (const PyError&) {
    waybill::extension::complete_error(state, object, hooks);
    throw;
  }
}

// Fast paths of dumps() and loads() for the most frequent options. Python functions
// handle all other options, and refuse invalid ones.

bool is_named(PyObject* name, const char* text) {
  return PyUnicode_CompareWithASCIIString(name, text) == 0;
}

// Whether buffers may be sent out of band with this protocol.
bool can_send_buffers(PyObject* protocol) {
  constexpr long kFirstWithBuffers = 5;
  if (protocol == Py_None) return true;
  int overflow = 0;  // Large numbers raise no exception.
  return PyLong_CheckExact(protocol) &&
         PyLong_AsLongAndOverflow(protocol, &overflow) == kFirstWithBuffers;
}

// The meaning of dumps(source=...); nullopt for None and invalid values.
std::optional<waybill::py::SourceUse> source_use(PyObject* value) {
  if (value == Py_False) return waybill::py::SourceUse::kNone;
  if (value == Py_True) return waybill::py::SourceUse::kDemanded;
  const bool is_auto = PyUnicode_CheckExact(value) && is_named(value, "auto");
  return is_auto ? std::optional(waybill::py::SourceUse::kWhereProven) : std::nullopt;
}

// Whether configure() has set no option but `source`. Sets `source` to its value, which
// is borrowed; null if it is not set.
bool has_plain_options(const State& state, PyObject*& source) {
  PyObject* options = state.options.get();
  source = nullptr;
  if (PyDict_GET_SIZE(options) == 0) return true;
  if (PyDict_GET_SIZE(options) == 1) source = PyDict_GetItemString(options, "source");
  return source != nullptr;
}

// Adds the options of the process to `hooks`; false if they need the slow path.
bool add_process_options(const State& state, waybill::py::EncodeHooks& hooks) {
  PyObject* source = nullptr;
  if (PySet_GET_SIZE(state.registered.get()) != 0 ||
      !has_plain_options(state, source)) {
    return false;
  }
  if (source != nullptr) hooks.source = source_use_of(source);
  return true;
}

// Adds the arguments of dumps() to `hooks`; false if they need the slow path. The fast
// path takes those that engines use: buffer_callback, the protocol for it, and source.
bool add_arguments(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords,
                   waybill::py::EncodeHooks& hooks) {
  if (count != 1 && !(count == 2 && can_send_buffers(arguments[1]))) return false;
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* name = PyTuple_GET_ITEM(keywords, i);
    PyObject* value = arguments[count + i];
    if (is_named(name, "buffer_callback")) {
      hooks.buffer_callback = none_to_null(value);
    } else if (is_named(name, "source")) {
      const std::optional<waybill::py::SourceUse> use = source_use(value);
      if (!use) return false;
      hooks.source = *use;
    } else if (count != 1 || !is_named(name, "protocol") || !can_send_buffers(value)) {
      return false;
    }
  }
  return true;
}

PyObject* dumps(PyObject* module, PyObject* const* arguments, Py_ssize_t count,
                PyObject* keywords) {
  return guarded([&] {
    State& state = state_of(module);
    waybill::py::EncodeHooks hooks;
    if (add_process_options(state, hooks) &&
        add_arguments(arguments, count, keywords, hooks)) {
      return encode_or_explain(state, arguments[0], hooks, waybill::py::encode);
    }
    return call_with_options(lazy_helper(state, &waybill::py::LazyHelpers::dumps_with),
                             arguments, count, keywords);
  });
}

// Whether `buffers` is the only option: engines give it with each payload.
bool has_only_buffers(PyObject* keywords) {
  return keywords != nullptr && PyTuple_GET_SIZE(keywords) == 1 &&
         is_named(PyTuple_GET_ITEM(keywords, 0), "buffers");
}

PyObject* loads(PyObject* module, PyObject* const* arguments, Py_ssize_t count,
                PyObject* keywords) {
  return guarded([&] {
    State& state = state_of(module);
    const bool has_buffers = has_only_buffers(keywords);
    PyObject* source = nullptr;  // Not an option of loads().
    if (count != 1 || (keywords != nullptr && !has_buffers) ||
        !has_plain_options(state, source)) {
      return call_with_options(
          lazy_helper(state, &waybill::py::LazyHelpers::loads_with), arguments, count,
          keywords);
    }
    waybill::py::DecodeHooks hooks;
    hooks.data = arguments[0];
    Ref buffers;
    if (has_buffers && none_to_null(arguments[1]) != nullptr) {
      buffers = Ref::steal(PyObject_GetIter(arguments[1]));
      hooks.buffers = buffers.get();
    }
    const Input input(arguments[0]);
    return waybill::py::decode(state, input.bytes(), hooks);
  });
}

template <auto kWrite>
Ref encode_with(PyObject* module, PyObject* const* arguments) {
  const EncodeOptions options(arguments[1]);
  return encode_or_explain(state_of(module), arguments[0], options.hooks, kWrite);
}

// Decodes with options in addition to `hooks`.
Ref decode_with(PyObject* module, PyObject* data, PyObject* options,
                const waybill::py::DecodeHooks& hooks) {
  const DecodeOptions given_options(options, hooks);
  const auto& load_options = given_options.load_options;
  const Input input(data);
  return waybill::py::decode(state_of(module), input.bytes(), given_options.hooks,
                             load_options ? &*load_options : nullptr);
}

Ref decode(PyObject* module, PyObject* const* arguments) {
  waybill::py::DecodeHooks hooks;
  hooks.data = arguments[0];
  return decode_with(module, arguments[0], arguments[1], hooks);
}

Ref decode_head(PyObject* module, PyObject* const* arguments) {
  waybill::py::DecodeHooks hooks;
  hooks.stored = none_to_null(arguments[1]);
  hooks.memory = none_to_null(arguments[2]);
  if (hooks.memory != nullptr && !PyMemoryView_Check(hooks.memory)) {
    waybill::py::raise(PyExc_TypeError, "decode_head() takes a memoryview of bytes");
  }
  hooks.checks_stored = is_true(arguments[3]);
  return decode_with(module, arguments[0], arguments[4], hooks);
}

Ref imports(PyObject* module, PyObject* const* arguments) {
  const waybill::Manifest manifest =
      waybill::py::discover(state_of(module), arguments[0], is_true(arguments[1]));
  Ref records = Ref::steal(PyList_New(0));
  for (const waybill::ImportRecord& record : manifest.imports) {
    if (record.is_added_by_encoder()) continue;
    check(PyList_Append(records.get(), row_of(record).get()));
  }
  return records;
}

Ref content_hash(PyObject* module, PyObject* const* arguments) {
  const waybill::ContentHash hash = waybill::py::content_hash(
      state_of(module), arguments[0], is_true(arguments[1]), is_true(arguments[2]));
  return new_bytes(hash);
}

Ref source_hash(PyObject* module, PyObject* object) {
  const auto hash = waybill::py::source_hash(state_of(module), object);
  return hash ? new_bytes(*hash) : Ref::share(Py_None);
}

void use_caches(PyObject* module, PyObject* are_used) {
  waybill::py::use_caches(state_of(module), is_true(are_used));
}

void clear_caches(PyObject* module, PyObject*) {
  waybill::py::clear_caches(state_of(module));
}

Ref cache_info(PyObject* module, PyObject*) {
  return waybill::py::cache_info(state_of(module));
}

Ref current_map_location(PyObject*, PyObject*) {
  return waybill::py::current_device_mapping();
}

Ref inspect(PyObject* module, PyObject* data) {
  const Input input(data);
  return new_text(
      waybill::report_json(require(state_of(module), waybill::open(input.bytes()))));
}

Ref printable_text(PyObject*, PyObject* untrusted) {
  return new_text(waybill::printable(waybill::py::text_of(untrusted)));
}

Ref python_mismatch(PyObject* module, PyObject* data) {
  const Input input(data);
  State& state = state_of(module);
  const waybill::Envelope envelope = require(state, waybill::open(input.bytes()));
  const auto runs = waybill::check_python(envelope, state.python);
  return runs ? Ref::share(Py_None) : new_text(runs.error().detail);
}

Ref sent_sources(PyObject* module, PyObject* head) {
  const Input input(head);
  return waybill::py::sent_sources(state_of(module), input.bytes());
}

PyMethodDef kMethods[] = {
    {"dumps", as_cfunction(dumps), METH_FASTCALL | METH_KEYWORDS, kDumpsDoc},
    {"loads", as_cfunction(loads), METH_FASTCALL | METH_KEYWORDS, kLoadsDoc},
    method<encode_with<waybill::py::encode>, 2>("encode"),
    method<encode_with<waybill::py::encode_chunks>, 2>("encode_chunks"),
    method<decode, 2>("decode"),
    method<decode_head, 5>("decode_head"),
    method<imports, 2>("imports"),
    method<content_hash, 3>("content_hash"),
    method<source_hash>("source_hash"),
    method<use_caches>("use_caches"),
    method<clear_caches>("clear_caches", METH_NOARGS, kClearCachesDoc),
    method<cache_info>("cache_info", METH_NOARGS, kCacheInfoDoc),
    method<current_map_location>("current_map_location", METH_NOARGS),
    method<inspect>("inspect"),
    method<printable_text>("printable_text"),
    method<python_mismatch>("python_mismatch"),
    method<sent_sources>("sent_sources"),
    {},  // Ends the table.
};

// Refuses a Python without the GIL. A free-threaded build enables the GIL for this
// module, unless an option or environment variable disables it.
void demand_gil() {
  PyObject* is_enabled = PySys_GetObject("_is_gil_enabled");
  if (is_enabled == nullptr) return;  // Before 3.13 every Python has the GIL.
  const Ref answer = waybill::py::call(is_enabled);
  if (is_true(answer.get())) return;
  waybill::py::raise(
      PyExc_ImportError,
      "waybill needs the GIL, and this Python runs with the GIL off; leave "
      "out -X gil=0 and PYTHON_GIL=0, or use a build that is not "
      "free-threaded");
}

int execute(PyObject* module) {
  State* state = new (PyModule_GetState(module)) State;
  PyObject* done = guarded([&] {
    demand_gil();
    // The Python modules that start() imports use these functions.
    check(PyModule_AddFunctions(module, kClassMethods));
    waybill::py::start(*state);
    check(PyModule_AddFunctions(module, kSecurityMethods));
    check(PyModule_AddFunctions(module, kStreamMethods));
    check(PyModule_AddFunctions(module, kPartMethods));
    check(PyModule_AddFunctions(module, kExplanationMethods));
    add_security_constants(module);
    add_prepared_type(module);
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

void destroy(void* module) {
  if (void* state = PyModule_GetState(static_cast<PyObject*>(module))) {
    static_cast<State*>(state)->~State();
  }
}

PyModuleDef_Slot kSlots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(execute)},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_USED},
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
