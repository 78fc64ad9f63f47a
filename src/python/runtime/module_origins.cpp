// Which modules imports find: those that a finder gave, if it would give them again.
// Tested by tests/python/modules/test_modules_by_path.py.

#include "python/runtime/modules.h"

namespace waybill::py {

namespace {

// What an import would begin with: the name and the spec of the module, or of the
// package around it that puts it there. Nulls if no finder gave any.
struct Origin {
  Ref name;
  PyObject* spec = nullptr;
};

Origin origin_of(const State& state, PyObject* module, PyObject* name,
                 PyObject* loaded) {
  // Modules that a package puts together, like six.moves, also inside each other:
  // importing them imports the package first, which puts them there.
  Origin origin{Ref::share(name)};
  while (module != nullptr) {
    origin.spec = spec_of(state, module);
    if (origin.spec != nullptr) return origin;
    origin.name = parent_of(origin.name.get());
    module = origin.name ? module_in(state, loaded, origin.name.get()) : nullptr;
  }
  return {};
}

}  // namespace

PyObject* importable_name(const State& state, PyObject* module, PyObject* loaded) {
  PyObject* name = module_name(state, module, loaded);
  if (name == nullptr || is_main(state, name)) return nullptr;
  const Origin origin = origin_of(state, module, name, loaded);
  const bool is_lost = origin.spec == nullptr ||
                       raw_get(state.lost.get(), origin.name.get()) == origin.spec;
  return is_lost ? nullptr : name;
}

bool is_findable(const State& state, PyObject* module) {
  // Nearly always it was asked about, under the name that it tells.
  PyObject* name = look_into(state, module, state.names.name.get());
  PyObject* own_spec = spec_of(state, module);
  if (name != nullptr && PyUnicode_Check(name) && own_spec != nullptr &&
      raw_get(state.found.get(), name) == own_spec) {
    return true;
  }
  PyObject* loaded = sys_modules(state);
  name = module_name(state, module, loaded);
  if (name == nullptr || is_main(state, name)) return false;
  const Origin origin = origin_of(state, module, name, loaded);
  if (origin.spec == nullptr) return false;
  if (raw_get(state.found.get(), origin.name.get()) == origin.spec) return true;
  if (raw_get(state.lost.get(), origin.name.get()) == origin.spec) return false;
  const Ref spec = Ref::share(origin.spec);
  const Ref answer = Ref::steal(PyObject_CallFunctionObjArgs(
      state.is_found.get(), origin.name.get(), spec.get(), nullptr));
  const bool is_found = answer.get() == Py_True;
  check(PyDict_SetItem((is_found ? state.found : state.lost).get(), origin.name.get(),
                       spec.get()));
  return is_found;
}

}  // namespace waybill::py
