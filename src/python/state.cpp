// Fills the per-interpreter state.

#include "python/state.h"

#include "python/code_info.h"
#include "python/compat.h"

namespace waybill::py {

namespace {

Ref interned(const char* text) { return Ref::steal(PyUnicode_InternFromString(text)); }

struct NameRow {
  Ref Names::*field;
  const char* text;
};

constexpr NameRow kNames[] = {
    {&Names::dict, "__dict__"},
    {&Names::name, "__name__"},
    {&Names::package, "__package__"},
    {&Names::path, "__path__"},
    {&Names::spec, "__spec__"},
    {&Names::builtins, "__builtins__"},
    {&Names::module, "__module__"},
    {&Names::qualname, "__qualname__"},
    {&Names::reduce_ex, "__reduce_ex__"},
    {&Names::setstate, "__setstate__"},
    {&Names::classdict, "__classdict__"},
    {&Names::main, "__main__"},
    {&Names::name_plain, "name"},
    {&Names::builtins_plain, "builtins"},
    {&Names::types, "types"},
    {&Names::new_, "__new__"},
    {&Names::getattr, "getattr"},
    {&Names::getattribute, "__getattribute__"},
    {&Names::modules, "modules"},
    {&Names::lazy_modules, "lazy_modules"},
};

Ref attribute(PyObject* object, const char* name) {
  return Ref::steal(PyObject_GetAttrString(object, name));
}

// {type: name} of every type in `types`; the first name counts.
Ref types_by_identity(PyObject* types) {
  Ref table = Ref::steal(PyDict_New());
  PyObject* dict = PyModule_GetDict(types);
  Py_ssize_t position = 0;
  PyObject *name, *value;
  while (PyDict_Next(dict, &position, &name, &value)) {
    if (!PyType_Check(value)) continue;
    if (PyDict_SetDefault(table.get(), value, name) == nullptr) throw PyError();
  }
  return table;
}

}  // namespace

void init_state(State& state) {
  for (const NameRow& row : kNames) state.names.*row.field = interned(row.text);
  Ref types = Ref::steal(PyImport_ImportModule("types"));
  state.named_types = types_by_identity(types.get());
  if (kHasLazyImports) {
    state.lazy_import_type = attribute(types.get(), "LazyImportType");
  }
  Ref sys = Ref::steal(PyImport_ImportModule("sys"));
  state.sys_dict = Ref::share(PyModule_GetDict(sys.get()));
  Ref copyreg = Ref::steal(PyImport_ImportModule("copyreg"));
  state.dispatch_table = attribute(copyreg.get(), "dispatch_table");
  state.newobj = attribute(copyreg.get(), "__newobj__");
  state.newobj_ex = attribute(copyreg.get(), "__newobj_ex__");
  Ref reducers = Ref::steal(PyImport_ImportModule("waybill._reducers"));
  Ref classes = Ref::steal(PyImport_ImportModule("waybill._classes"));
  state.reducers = attribute(reducers.get(), "REDUCERS");
  state.named_reducers = attribute(reducers.get(), "NAMED_REDUCERS");
  state.class_parts = attribute(classes.get(), "class_parts");
  state.make_class = attribute(classes.get(), "make_class");
  state.set_class_attribute = attribute(classes.get(), "set_class_attribute");
  state.finish_class = attribute(classes.get(), "finish_class");
  state.make_lazy_import = attribute(reducers.get(), "make_lazy_import");
  const long magic = PyImport_GetMagicNumber();
  check(magic == -1 ? -1 : 0);
  state.python = {kPythonVersion / 100, kPythonVersion % 100,
                  static_cast<std::uint32_t>(magic) & 0xffff};
  state.code_extra_index = code_info_index();
  PyErr_Clear();  // No index left is no failure.
}

namespace {

// Every reference of the state, for the collector's slots.
template <typename Function>
int for_each(State& state, Function function) {
  for (Ref* ref :
       {&state.error, &state.encode_error, &state.decode_error,
        &state.python_mismatch_error, &state.missing_module_error, &state.sys_dict,
        &state.lazy_import_type, &state.named_types, &state.dispatch_table,
        &state.newobj, &state.newobj_ex, &state.reducers, &state.named_reducers,
        &state.class_parts, &state.make_class, &state.set_class_attribute,
        &state.finish_class, &state.make_lazy_import}) {
    if (int result = function(*ref)) return result;
  }
  for (const NameRow& row : kNames) {
    if (int result = function(state.names.*row.field)) return result;
  }
  return 0;
}

}  // namespace

int traverse_state(State& state, visitproc visitor, void* arg) {
  return for_each(state, [&](Ref& ref) { return visit(ref, visitor, arg); });
}

void clear_state(State& state) {
  for_each(state, [](Ref& ref) {
    ref = Ref();
    return 0;
  });
}

}  // namespace waybill::py
