#pragma once

// Raw look-ups in sys.modules and in the dicts of modules. No attribute of a module is
// read, so no __getattr__, property or lazy import runs, and nothing is imported.
// Returned pointers are borrowed; null means absent.
//
// Cost: a few dict look-ups each, independent of the number of modules in the process.
// Only find_anywhere() looks into all of them.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// The current sys.modules; null if a program has replaced it by an object that is not a
// dict.
PyObject* sys_modules(const State& state);

// sys.modules[name] if that is a module. `loaded`: sys_modules(), which callers with
// several look-ups compute once.
PyObject* module_in(const State& state, PyObject* loaded, PyObject* name);
inline PyObject* find_module(const State& state, PyObject* name) {
  return module_in(state, sys_modules(state), name);
}

// The value of a name in the globals of a module or in sys.modules.
inline PyObject* look_up(const State& state, PyObject* dict, PyObject* name) {
  return state.dict_lookup_cache.get(dict, name);
}
inline PyObject* look_up_in(const State& state, PyObject* module, PyObject* name) {
  return look_up(state, PyModule_GetDict(module), name);
}

// The name under which sys.modules has this module: its __name__ or, if sys.modules has
// another module or none under that, the name in its __spec__. Null if neither fits.
PyObject* module_name(const State& state, PyObject* module, PyObject* loaded);
inline PyObject* module_name(const State& state, PyObject* module) {
  return module_name(state, module, sys_modules(state));
}

// `package.name`
Ref submodule_name(PyObject* package, PyObject* name);

// `name` without its last part; null if it has only one.
Ref parent_of(PyObject* name);
// `name` up to its first dot.
Ref first_part(PyObject* name);

bool is_main(const State& state, PyObject* name);

// Whether all globals dicts have this name. `name` must be interned.
inline bool is_in_every_namespace(const Names& names, PyObject* name) {
  return name == names.name.get() || name == names.package.get() ||
         name == names.builtins.get();
}

// Whether an object is the module of the script, sys.modules["__main__"].
bool is_script(const State& state, PyObject* object);

// Whether a set of str has the name of a module or of one of its parent packages.
bool has_name_or_parent(PyObject* names, PyObject* name);

// Whether an import would find a loaded module. Imports do not find modules that a
// program loads by file path, although they have a __spec__. Asks the finders once for
// each module with a name and a spec, which may run Python code.
bool is_findable(const State& state, PyObject* module);

// The __spec__ in the dict of a module, which a finder has set; null if absent or None.
PyObject* spec_of(const State& state, PyObject* module);

// The name of a module if another process may import it: a finder has found the module
// (it has a __spec__) or a parent package. Null for __main__, for modules that a
// program has made, and for modules for which is_findable() was false.
PyObject* importable_name(const State& state, PyObject* module, PyObject* loaded);
inline PyObject* importable_name(const State& state, PyObject* module) {
  return importable_name(state, module, sys_modules(state));
}

// The module with this dict, found by the name or the __spec__ in it; null if none.
PyObject* module_of_dict(const State& state, PyObject* dict);

// The last part of a type's tp_name. For static types the str is cached.
Ref name_of_type(const State& state, PyTypeObject* type);

// The name of a type's module, without running code of a metaclass: `__module__` in its
// dict or, for C types without one, the part of tp_name before the last dot.
Ref module_of_type(const State& state, PyTypeObject* type);

// ---- Places of objects --------------------------------------------------------------
//
// The functions return null parts if the object is not found.

// An attribute path from a module, by which an object can be found.
struct GlobalName {
  Ref module;  // The module; if it is not loaded, its name.
  Ref path;    // str, dotted.
};

// The name of the module.
PyObject* module_name(const State& state, const GlobalName& name);

// The place `module_name`, `path` if importing the module and following the path leads
// to this object.
GlobalName find_global(const State& state, PyObject* object, PyObject* module_name,
                       PyObject* path);

// find_global() for a class in this module, under the class's own qualified name.
GlobalName find_in_module(const State& state, PyObject* type, PyObject* module);

// The place of an object that has a path but no module, as pickle finds it: in the
// module of its type, else in any importable module. Of several, the first in
// alphabetical order is chosen, independently of the order of imports.
GlobalName find_anywhere(const State& state, PyObject* object, PyObject* path);

// Like find_global(), but only in a module that no import finds: __main__, or a module
// that a program has made.
GlobalName find_unimportable(const State& state, PyObject* object,
                             PyObject* module_name, PyObject* path);

// The object at a place; null if there is none.
Ref find_by_path(const State& state, PyObject* module_name, PyObject* path);

// The name, an identifier, under which a dict has this object; null if none.
PyObject* name_in(PyObject* dict, PyObject* object);

// The place of a module that an extension has made as an attribute of itself, so that
// no import finds it. The classes of the module name the extension.
GlobalName find_inner_module(const State& state, PyObject* module);

// find_global() for a function or class, by its own __module__ and __qualname__. A
// class may also have another name in its module, as typing._TypedDict does.
GlobalName find_function(const State& state, PyObject* function);
GlobalName find_type(const State& state, PyTypeObject* type);
// find_global() for a class, a Python function, or a C function of a module, by its own
// module and name.
GlobalName find_by_own_name(const State& state, PyObject* object);
// find_global() for a method of a static C type, such as tuple.__new__.
GlobalName find_in_type(const State& state, PyObject* object);

// The name of a builtin type under which builtins has it, such as `object`; null for
// all other objects.
Ref name_of_builtin_type(const State& state, PyObject* object);
// Whether builtins has this object under a name.
bool is_in_builtins(const State& state, PyObject* object, PyObject* name);

// ---- Lazy imports, namespaces -----------------------------------------------------

// Whether `object` is an unresolved lazy import (3.15).
inline bool is_lazy_import(const State& state, PyObject* object) {
  return state.lazy_import_type &&
         Py_TYPE(object) == as_type(state.lazy_import_type.get());
}

// The target of an unresolved lazy import.
struct LazyTarget {
  Ref module;     // str: "a.b"
  Ref attribute;  // str: `from a.b import attribute`, or null
  Ref import;     // str: the module that the statement names
};
// Does not resolve the import. The module is null if it is unknown.
LazyTarget lazy_target(PyObject* placeholder);

// The module `builtins` in sys.modules.
Ref builtins_module(const State& state);

// Sets __builtins__, __name__, __package__ and __path__ in an empty dict, which becomes
// the globals of functions. `name` and `package` are not set if they are null.
void describe_namespace(const State& state, PyObject* globals, PyObject* name,
                        PyObject* package, bool is_package);

}  // namespace waybill::py
