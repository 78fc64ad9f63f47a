#pragma once

// Looks into modules the way the bytes of a module dict are: no attribute of a module
// is asked for, so no __getattr__, property or lazy import runs, and nothing is
// imported. Pointers that are returned are borrowed; null means absent.
//
// Cost: a few dict look-ups each, whatever the number of modules in the process; only
// find_anywhere looks into all of them.

#include <Python.h>

#include "python/runtime/ref.h"
#include "python/runtime/state.h"

namespace waybill::py {

// sys.modules as it is now; null if it was replaced by something that is no dict.
PyObject* sys_modules(const State& state);

// sys.modules[name] if that is a module; with `loaded`, for who asks more than once,
// sys_modules().
PyObject* module_in(const State& state, PyObject* loaded, PyObject* name);
inline PyObject* find_module(const State& state, PyObject* name) {
  return module_in(state, sys_modules(state), name);
}

// What the globals of a module, or sys.modules, have for a name.
inline PyObject* look_up(const State& state, PyObject* dict, PyObject* name) {
  return state.dict_lookup_cache.get(dict, name);
}
inline PyObject* look_up_in(const State& state, PyObject* module, PyObject* name) {
  return look_up(state, PyModule_GetDict(module), name);
}

// The name under which sys.modules holds this very module: __name__, or what its
// __spec__ says when __name__ is missing or lies. Null if neither does.
PyObject* module_name(const State& state, PyObject* module, PyObject* loaded);
inline PyObject* module_name(const State& state, PyObject* module) {
  return module_name(state, module, sys_modules(state));
}

// The two with a dot between them.
Ref dotted(PyObject* package, PyObject* name);

// `name` without its last part; null if it has only one.
Ref parent_of(PyObject* name);
// `name` up to its first dot.
Ref first_part(PyObject* name);

bool is_main(const State& state, PyObject* name);

// Whether all globals have this name, which is interned.
inline bool is_in_every_namespace(const Names& names, PyObject* name) {
  return name == names.name.get() || name == names.package.get() ||
         name == names.builtins.get();
}

// Whether an object is the module of the script, sys.modules["__main__"].
bool is_script(const State& state, PyObject* object);

// Whether a set of str has a module's name or that of a package it is in.
bool has_name_or_parent(PyObject* names, PyObject* name);

// Whether an import would find the module, which was loaded: where a program loads
// files by their paths, none does, although they have a __spec__. Asks the finders once
// for each module that has a name and a spec; code of others may run.
bool is_findable(const State& state, PyObject* module);

// The __spec__ that the module's dict has, which a finder gave; null for None, too.
PyObject* spec_of(const State& state, PyObject* module);

// The module's name if importing it elsewhere can work: it came from a finder (has a
// __spec__), or a parent package that did is there to provide it. Null for __main__,
// for modules that a program made up, and for those that is_findable() was false for.
PyObject* importable_name(const State& state, PyObject* module, PyObject* loaded);
inline PyObject* importable_name(const State& state, PyObject* module) {
  return importable_name(state, module, sys_modules(state));
}

// The module whose dict this is, by the name or the __spec__ in it; null if none.
PyObject* module_of_dict(const State& state, PyObject* dict);

// The last part of a type's own name. That of a type in C is no new str each time.
Ref name_of_type(const State& state, PyTypeObject* type);

// The name of the module that a type says it is from, without running a metaclass's
// code: `__module__` of its dict or, as types in C have none, the head of its own name.
Ref module_of_type(const State& state, PyTypeObject* type);

// A way to find an object again: an attribute path from a module.
struct GlobalName {
  Ref module;  // The module object; the name of one that nobody has loaded.
  Ref path;    // str, dotted.
};

// The name of the module.
PyObject* module_name(const State& state, const GlobalName& name);

// The place from which `object` can be had by importing `module_name` and following
// `path`, if it is really there and is that very object. Null parts if not.
GlobalName find_global(const State& state, PyObject* object, PyObject* module_name,
                       PyObject* path);

// The same for an object that names its path but no module, as pickle finds it: in the
// module of its type, else in any that can be imported, of which the name that sorts
// first wins, whatever the order of imports was.
GlobalName find_anywhere(const State& state, PyObject* object, PyObject* path);

// The same in a module that no import finds: the script's, or one that a program made.
GlobalName find_unimportable(const State& state, PyObject* object,
                             PyObject* module_name, PyObject* path);

// What stands there, whatever it is; null if nothing does.
Ref find_by_path(const State& state, PyObject* module_name, PyObject* path);

// The name, an identifier, under which a dict holds this very object; null if none.
PyObject* name_in(PyObject* dict, PyObject* object);

// find_global for a function or class, by its own __module__ and __qualname__. A class
// may also stand in its module under another name, as typing._TypedDict does.
// A module that an extension made within itself, and no import finds: where the
// extension has it, as the classes in it tell.
GlobalName find_inner_module(const State& state, PyObject* module);

GlobalName find_function(const State& state, PyObject* function);
// The name of a type of the interpreter's own that builtins has under it, as object and
// type; null for all else.
Ref name_of_builtin_type(const State& state, PyObject* object);
// Whether builtins has this object under a name.
bool is_in_builtins(const State& state, PyObject* object, PyObject* name);
GlobalName find_type(const State& state, PyTypeObject* type);
// The same for a class, a function of Python, or a function in C of a module; null
// parts for all else.
GlobalName find_by_own_name(const State& state, PyObject* object);
// The same for what a type in C has as it is: tuple.__new__. Null parts for all else.
GlobalName find_in_type(const State& state, PyObject* object);

// Whether `object` is a lazy import that nobody has resolved yet (3.15).
inline bool is_lazy_import(const State& state, PyObject* object) {
  return state.lazy_import_type &&
         Py_TYPE(object) == as_type(state.lazy_import_type.get());
}

// What an unresolved lazy import stands for, without resolving it.
struct LazyTarget {
  Ref module;     // str: "a.b"
  Ref attribute;  // str: `from a.b import attribute`, or null
  Ref import;     // str: the module that the statement names
};
// Null module if it cannot be told.
LazyTarget lazy_target(const State& state, PyObject* placeholder);

// The module `builtins`, as sys.modules has it now.
Ref builtins_module(const State& state);

// Puts into an empty dict, which becomes the globals of functions, what a namespace
// says of itself. `name` and `package`: null where it says nothing.
void describe_namespace(const State& state, PyObject* globals, PyObject* name,
                        PyObject* package, bool is_package);

}  // namespace waybill::py
