// Tested by tests/python/functions/test_functions.py.

#include "python/runtime/namespaces.h"

#include "python/runtime/modules.h"

namespace waybill::py {

Ref builtins_module(const State& state) {
  PyObject* module = find_module(state, state.names.builtins_plain.get());
  return module != nullptr ? Ref::share(module) : state.builtins;
}

void describe_namespace(const State& state, PyObject* globals, PyObject* name,
                        PyObject* package, bool is_package) {
  const Names& names = state.names;
  const auto set = [&](const Ref& key, PyObject* value) {
    check(PyDict_SetItem(globals, key.get(), value));
  };
  const Ref builtins = builtins_module(state);
  set(names.builtins, builtins.get());
  if (name != nullptr) set(names.name, name);
  if (package != nullptr) set(names.package, package);
  if (is_package) {
    // Import statements ask only whether it is there, to tell a package.
    const Ref path = Ref::steal(PyList_New(0));
    set(names.path, path.get());
  }
}

}  // namespace waybill::py
