// Fills the per-interpreter state.

#include "python/runtime/state.h"

#include <utility>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"

namespace waybill::py {

namespace {

struct NameRow {
  Ref Names::* field;
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
    {&Names::first_line, "__firstlineno__"},
    {&Names::class_, "__class__"},
    {&Names::new_, "__new__"},
    {&Names::reduce, "__reduce__"},
    {&Names::reduce_ex, "__reduce_ex__"},
    {&Names::getstate, "__getstate__"},
    {&Names::setstate, "__setstate__"},
    {&Names::getnewargs, "__getnewargs__"},
    {&Names::getnewargs_ex, "__getnewargs_ex__"},
    {&Names::slotnames, "__slotnames__"},
    {&Names::copyreg, "copyreg"},
    {&Names::newobj, "__newobj__"},
    {&Names::doc, "__doc__"},
    {&Names::slots, "__slots__"},
    {&Names::init_subclass, "__init_subclass__"},
    {&Names::abc_impl, "_abc_impl"},
    {&Names::enum_module, "enum"},
    {&Names::member_map, "_member_map_"},
    {&Names::member_type, "_member_type_"},
    {&Names::member_value, "_value_"},
    {&Names::context_data, "_ctxdata"},
    {&Names::class_manager, "_sa_class_manager"},
    {&Names::file, "__file__"},
    {&Names::typing, "typing"},
    {&Names::annotate_func, "__annotate_func__"},
    {&Names::annotations_cache, "__annotations_cache__"},
    {&Names::classdict, "__classdict__"},
    {&Names::main, "__main__"},
    {&Names::initializing, "_initializing"},
    {&Names::name_plain, "name"},
    {&Names::builtins_plain, "builtins"},
    {&Names::types, "types"},
    {&Names::getattr, "getattr"},
    {&Names::getattr_hook, "__getattr__"},
    {&Names::getattribute, "__getattribute__"},
    {&Names::extend, "extend"},
    {&Names::modules, "modules"},
    {&Names::lazy_modules, "lazy_modules"},
    {&Names::empty, ""},
    {&Names::loader, "__loader__"},
    {&Names::cached, "__cached__"},
    {&Names::flags, "flags"},
    {&Names::forc, "forc"},
    {&Names::copy, "copy"},
    {&Names::dtype, "dtype"},
    {&Names::names, "names"},
    {&Names::id_of, "id_of"},
    {&Names::source_id_of, "source_id_of"},
    {&Names::find_by_source_id, "find_by_source_id"},
    {&Names::set_source_id, "set_source_id"},
    {&Names::record_sent, "record_sent"},
    {&Names::fget, "fget"},
    {&Names::fset, "fset"},
    {&Names::fdel, "fdel"},
    {&Names::func, "__func__"},
    {&Names::add, "add"},
    {&Names::add_members, "add_members"},
    {&Names::add_module, "add_module"},
    {&Names::add_imports, "add_imports"},
    {&Names::abandon, "abandon"},
    {&Names::settle, "settle"},
    {&Names::apply, "apply"},
    {&Names::waybill_state, "__waybill_state__"},
    {&Names::wrapped, "__wrapped__"},
    {&Names::claim, "claim"},
    {&Names::close, "close"},
    {&Names::forget, "forget"},
};

// Helpers in Python that are imported at the start.
struct HelperRow {
  Ref State::* field;
  const char* module;
  const char* name;
};

constexpr HelperRow kHelpers[] = {
    {&State::reducers, "waybill._reducers", "REDUCERS"},
    {&State::named_reducers, "waybill._reducers", "NAMED_REDUCERS"},
    {&State::call_types, "waybill._reducers", "CALL_TYPES"},
    {&State::derived_by_enum, "waybill._classes.enumerations", "DERIVED"},
    {&State::member_attributes, "waybill._classes.enumerations", "MEMBER_ATTRIBUTES"},
    {&State::abc_meta, "abc", "ABCMeta"},
    {&State::registry_of, "_abc", "_get_dump"},
    {&State::identified, "waybill._reducers", "IDENTIFIED"},
    {&State::self_named, "waybill._reducers", "SELF_NAMED"},
    {&State::make_lazy_import, "waybill._reducers", "make_lazy_import"},
    {&State::reduce_global, "waybill._reducers", "reduce_global"},
    {&State::reduce_to_fresh, "waybill._reducers", "reduce_to_fresh"},
    {&State::annotation_codes, "waybill._classes.annotations", "CODES"},
    {&State::code_of_annotation, "waybill._classes.annotations", "code_of_annotation"},
    {&State::stand_in_for, "waybill._reducers", "stand_in_for"},
    {&State::reduce_to_name, "waybill._reducers", "reduce_to_name"},
    {&State::reduce_by_type, "waybill._reducers", "reduce_by_type"},
    {&State::reduce_by_members, "waybill._reducers", "reduce_by_members"},
    {&State::plan_of_arrays, "waybill._reducers", "plan_of_arrays"},
    {&State::copy_in_order, "waybill._reducers", "copy_in_order"},
    {&State::with_globals, "waybill._reducers", "with_globals"},
    {&State::reduce_to_stand_in, "waybill._reducers", "reduce_to_stand_in"},
    {&State::reduce_without_class, "waybill._reducers", "reduce_without_class"},
    {&State::class_parts, "waybill._classes.parts", "class_parts"},
    {&State::implicit_attributes, "waybill._classes.parts", "IMPLICIT_ATTRIBUTES"},
    {&State::make_class, "waybill._classes.making", "make_class"},
    {&State::set_class_attribute, "waybill._classes.making", "set_class_attribute"},
    {&State::finish_class, "waybill._classes.making", "finish_class"},
    {&State::tracker, "waybill._classes.identity", "TRACKER"},
    {&State::parts_to_relay, "waybill._state.baselines", "parts_to_relay"},
    {&State::has_replaced_methods, "waybill._state.baselines", "has_replaced_methods"},
    {&State::make_merge, "waybill._state.merge", "Merge"},
    {&State::options, "waybill._api.configuration", "OPTIONS"},
    {&State::class_serials, "waybill._state.baselines", "SERIALS"},
    {&State::class_uses, "waybill._state.baselines", "USES"},
    {&State::is_local, "waybill._modules.by_value", "is_local"},
    {&State::is_found, "waybill._modules.by_value", "is_found"},
    {&State::registered, "waybill._modules.by_value", "REGISTERED"},
    {&State::load_lazily, "waybill._api.lazy", "load"},
};

struct LazyRow {
  Ref LazyHelpers::* field;
  const char* module;
  const char* name;
};

constexpr LazyRow kLazyHelpers[] = {
    {&LazyHelpers::error, "_api.errors", "Error"},
    {&LazyHelpers::encode_error, "_api.errors", "EncodeError"},
    {&LazyHelpers::decode_error, "_api.errors", "DecodeError"},
    {&LazyHelpers::python_mismatch_error, "_api.errors", "PythonMismatchError"},
    {&LazyHelpers::missing_module_error, "_api.errors", "MissingModuleError"},
    {&LazyHelpers::policy_error, "_api.errors", "PolicyError"},
    {&LazyHelpers::signature_error, "_api.errors", "SignatureError"},
    {&LazyHelpers::make_encode_error, "_api.errors", "make_encode_error"},
    {&LazyHelpers::remedy, "_explain.remedies", "remedy"},
    {&LazyHelpers::shape_of, "_explain.explanation", "shape_of"},
    {&LazyHelpers::complete_error, "_api.errors", "complete"},
    {&LazyHelpers::dumps_with, "_api.functions", "dumps_with"},
    {&LazyHelpers::loads_with, "_api.functions", "loads_with"},
    {&LazyHelpers::prove_source, "_source.extension", "prove"},
    {&LazyHelpers::compile_source, "_source.extension", "compile_source"},
    {&LazyHelpers::keep_source, "_source.shown", "keep_source"},
    {&LazyHelpers::is_from_source, "_source.by_code", "is_from_source"},
    {&LazyHelpers::set_annotations, "_source.extension", "set_annotations"},
    {&LazyHelpers::make_foreign_class, "_source.extension", "make_class"},
    {&LazyHelpers::set_foreign_state, "_source.extension", "set_state"},
    {&LazyHelpers::class_attribute, "_source.extension", "class_attribute"},
    {&LazyHelpers::parts_by_source, "_source.parts", "parts_by_source"},
    {&LazyHelpers::opaque, "_kinds.opaque", "Opaque"},
    {&LazyHelpers::default_renames, "_environment.renames", "KNOWN"},
    {&LazyHelpers::advice, "_environment.hints", "advice"},
    {&LazyHelpers::explain_name, "_environment.hints", "explain"},
};

// {type: name} of every type in `types`; the first name counts.
Ref types_by_identity(PyObject* types) {
  Ref table = Ref::steal(PyDict_New());
  PyObject* dict = PyModule_GetDict(types);
  for (const auto& [name, value] : DictItems(dict)) {
    if (!PyType_Check(value)) continue;
    if (PyDict_SetDefault(table.get(), value, name) == nullptr) throw PyError();
  }
  return table;
}

// Every reference of the state, for the collector's slots.
template <typename Function>
int for_each(State& state, Function function) {
  for (Ref* ref :
       {&state.sys_dict, &state.builtins, &state.lazy_import_type, &state.named_types,
        &state.dispatch_table, &state.newobj, &state.newobj_ex, &state.reconstructor,
        &state.modules, &state.known_ids, &state.known_objects, &state.open_objects,
        &state.source_ids, &state.empty_cell_marker, &state.empty_dict}) {
    if (int result = function(*ref)) return result;
  }
  for (const HelperRow& row : kHelpers) {
    if (int result = function(state.*row.field)) return result;
  }
  for (const LazyRow& row : kLazyHelpers) {
    if (int result = function(state.lazy_helpers.*row.field)) return result;
  }
  for (const NameRow& row : kNames) {
    if (int result = function(state.names.*row.field)) return result;
  }
  return 0;
}

}  // namespace

void init_state(State& state) {
  for (const NameRow& row : kNames) state.names.*row.field = interned(row.text);
  Ref types = Ref::steal(PyImport_ImportModule("types"));
  state.named_types = types_by_identity(types.get());
  if (kHasLazyImports) {
    state.lazy_import_type = get_attribute(types.get(), "LazyImportType");
  }
  Ref sys = Ref::steal(PyImport_ImportModule("sys"));
  state.sys_dict = Ref::share(PyModule_GetDict(sys.get()));
  if (PyObject* jit = PyDict_GetItemString(state.sys_dict.get(), "_jit")) {
    const Ref answer = Ref::steal(PyObject_CallMethod(jit, "is_enabled", nullptr));
    state.has_jit = answer.get() == Py_True;
  }
  state.builtins = Ref::steal(PyImport_ImportModule("builtins"));
  state.findable_modules = Ref::steal(PyDict_New());
  state.unfindable_modules = Ref::steal(PyDict_New());
  state.empty_dict = Ref::steal(PyDict_New());
  Ref copyreg = Ref::steal(PyImport_ImportModule("copyreg"));
  state.dispatch_table = get_attribute(copyreg.get(), "dispatch_table");
  state.newobj = get_attribute(copyreg.get(), "__newobj__");
  state.newobj_ex = get_attribute(copyreg.get(), "__newobj_ex__");
  state.reconstructor = get_attribute(copyreg.get(), "_reconstructor");
  for (const HelperRow& row : kHelpers) {
    const Ref module = Ref::steal(PyImport_ImportModule(row.module));
    state.*row.field = get_attribute(module.get(), row.name);
  }
  state.modules = Ref::steal(PyImport_ImportModule("waybill._modules.by_value"));
  state.known_ids = get_attribute(state.tracker.get(), "_ids");
  state.known_objects = get_attribute(state.tracker.get(), "_objects");
  state.source_ids = get_attribute(state.tracker.get(), "_source_ids");
  state.open_objects = get_attribute(state.tracker.get(), "_open");
  const long magic = PyImport_GetMagicNumber();
  check(magic == -1 ? -1 : 0);
  state.python = {kPythonVersion / 100, kPythonVersion % 100,
                  static_cast<std::uint32_t>(magic) & 0xffff};
  state.empty_cell_marker = call(as_object(&PyBaseObject_Type));
}

PyObject* lazy_helper(const State& state, Ref LazyHelpers::* helper) {
  Ref& field = state.lazy_helpers.*helper;
  if (field) return field.get();
  for (const LazyRow& row : kLazyHelpers) {
    if (row.field != helper) continue;
    const Ref module =
        Ref::steal(PyObject_CallFunction(state.load_lazily.get(), "s", row.module));
    Ref found = get_attribute(module.get(), row.name);
    // Another thread may have set the field during the import.
    if (!field) field = std::move(found);
  }
  return field.get();
}

bool is_instance_of(const State& state, PyObject* exception, Ref LazyHelpers::* type) {
  return PyErr_GivenExceptionMatches(exception, lazy_helper(state, type)) != 0;
}

int traverse_state(State& state, visitproc visitor, void* arg) {
  return for_each(state, [&](Ref& ref) { return visit(ref, visitor, arg); });
}

void clear_state(State& state) {
  for_each(state, [](Ref& ref) {
    ref = Ref();
    return 0;
  });
  state.dict_lookup_cache.clear();
  state.intern_table.clear();
}

}  // namespace waybill::py
