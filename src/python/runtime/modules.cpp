// Raw look-ups in sys.modules and module dicts.
// Tested by tests/python/classes/test_classes.py, test_reduce_protocol.py and the
// discovery corpus; which modules imports find by
// tests/python/modules/test_modules_by_path.py.

#include "python/runtime/modules.h"

#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "python/runtime/attribute.h"
#include "python/runtime/compat.h"
#include "python/runtime/text.h"

namespace waybill::py {
namespace {

// An attribute in the instance dict of a plain object, such as a ModuleSpec.
PyObject* instance_get(PyObject* object, PyObject* name) {
  const Ref dict = instance_dict(object);
  // The dict belongs to the object, which outlives this call.
  return dict ? raw_get(dict.get(), name) : nullptr;
}

// The name in the dict of a module that satisfies a predicate: its __name__, or the
// name in its __spec__. Null if neither does.
template <typename Predicate>
PyObject* name_where(const State& state, PyObject* dict, Predicate is_wanted) {
  PyObject* name = look_up(state, dict, state.names.name.get());
  if (name != nullptr && PyUnicode_Check(name) && is_wanted(name)) return name;
  PyObject* spec = look_up(state, dict, state.names.spec.get());
  if (spec == nullptr || spec == Py_None) return nullptr;
  name = instance_get(spec, state.names.name_plain.get());
  return name != nullptr && PyUnicode_Check(name) && is_wanted(name) ? name : nullptr;
}

// One step of a qualified name, looked up raw: a module's dict or a class's own.
Ref raw_step(const State& state, PyObject* owner, PyObject* name) {
  if (PyModule_Check(owner)) return Ref::share(look_up_in(state, owner, name));
  if (!PyType_Check(owner)) {
    // Attributes of other objects can only be read by getattr.
    return steal_unless(PyExc_AttributeError, PyObject_GetAttr(owner, name));
  }
  Ref value = Ref::share(raw_get(as_type(owner), name));
  if (value && Py_IS_TYPE(value.get(), &PyStaticMethod_Type)) {
    return get_attribute(value.get(), "__func__");
  }
  return value;
}

// The object to which a path in a module leads.
Ref follow(const State& state, PyObject* module, PyObject* path) {
  Ref owner = Ref::share(module);
  const Py_ssize_t length = PyUnicode_GET_LENGTH(path);
  // "Model[int]" exists only after a program has made it.
  if (PyUnicode_FindChar(path, '[', 0, length, 1) >= 0) return {};
  for (Py_ssize_t start = 0; start <= length && owner;) {
    Py_ssize_t dot = PyUnicode_FindChar(path, '.', start, length, 1);
    if (dot < 0) dot = length;
    if (start == 0 && dot == length) return raw_step(state, owner.get(), path);
    Ref part = Ref::steal(PyUnicode_Substring(path, start, dot));
    owner = raw_step(state, owner.get(), part.get());
    start = dot + 1;
  }
  return owner;
}

// The place of a top-level class whose name in its module is not its __qualname__.
GlobalName find_renamed(const State& state, PyObject* type, PyObject* module_name,
                        PyObject* path) {
  if (!PyUnicode_Check(module_name) || is_main(state, module_name)) return {};
  if (PyUnicode_FindChar(path, '.', 0, PyUnicode_GET_LENGTH(path), 1) >= 0) return {};
  PyObject* module = find_module(state, module_name);
  if (module == nullptr) return {};
  PyObject* name = name_in(PyModule_GetDict(module), type);
  return name == nullptr ? GlobalName{} : find_global(state, type, module_name, name);
}

// Name and spec of the module that a finder finds: the module itself, or the package
// that creates it. Null if there is none.
struct Origin {
  Ref name;
  PyObject* spec = nullptr;
};

Origin origin_of(const State& state, PyObject* module, PyObject* name,
                 PyObject* loaded) {
  // A package may make modules, also nested ones, as six.moves. Importing one imports
  // the package first, which makes it.
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

PyObject* spec_of(const State& state, PyObject* module) {
  PyObject* spec = look_up_in(state, module, state.names.spec.get());
  return spec == Py_None ? nullptr : spec;
}

bool is_main(const State& state, PyObject* name) {
  constexpr std::string_view kMain = "__main__";
  // The __name__ that CPython sets is not the interned str.
  return name == state.names.main.get() ||
         (PyUnicode_GET_LENGTH(name) == std::ssize(kMain) &&
          PyUnicode_KIND(name) == PyUnicode_1BYTE_KIND &&
          std::memcmp(PyUnicode_DATA(name), kMain.data(), kMain.size()) == 0);
}

Ref submodule_name(PyObject* package, PyObject* name) {
  return Ref::steal(PyUnicode_FromFormat("%U.%U", package, name));
}

Ref parent_of(PyObject* name) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(name);
  const Py_ssize_t dot = PyUnicode_FindChar(name, '.', 0, length, -1);
  if (dot < 0) return {};
  return Ref::steal(PyUnicode_Substring(name, 0, dot));
}

Ref first_part(PyObject* name) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(name);
  const Py_ssize_t dot = PyUnicode_FindChar(name, '.', 0, length, 1);
  return dot < 0 ? Ref::share(name) : Ref::steal(PyUnicode_Substring(name, 0, dot));
}

bool has_name_or_parent(PyObject* names, PyObject* name) {
  for (Ref part = Ref::share(name); part; part = parent_of(part.get())) {
    if (check(PySet_Contains(names, part.get())) == 1) return true;
  }
  return false;
}

PyObject* sys_modules(const State& state) {
  PyObject* modules = look_up(state, state.sys_dict.get(), state.names.modules.get());
  return modules != nullptr && PyDict_Check(modules) ? modules : nullptr;
}

PyObject* module_in(const State& state, PyObject* loaded, PyObject* name) {
  PyObject* module = look_up(state, loaded, name);
  return module != nullptr && PyModule_Check(module) ? module : nullptr;
}

PyObject* module_name(const State& state, PyObject* module, PyObject* loaded) {
  return name_where(state, PyModule_GetDict(module), [&](PyObject* name) {
    return module_in(state, loaded, name) == module;
  });
}

PyObject* module_name(const State& state, const GlobalName& name) {
  PyObject* module = name.module.get();
  return PyUnicode_Check(module) ? module : module_name(state, module);
}

PyObject* module_of_dict(const State& state, PyObject* dict) {
  PyObject* module = nullptr;
  const bool is_found = name_where(state, dict, [&](PyObject* name) {
    module = find_module(state, name);
    return module != nullptr && PyModule_GetDict(module) == dict;
  });
  return is_found ? module : nullptr;
}

Ref name_of_type(const State& state, PyTypeObject* type) {
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
    return Ref::steal(PyType_GetName(type));
  }
  const std::string_view whole(type->tp_name);
  return state.intern_table.get(whole.substr(whole.rfind('.') + 1));
}

Ref module_of_type(const State& state, PyTypeObject* type) {
  PyObject* module = raw_get(type, state.names.module.get());
  if (module != nullptr && PyUnicode_Check(module)) return Ref::share(module);
  const std::string_view whole(type->tp_name);
  const std::size_t dot = whole.rfind('.');
  return new_text(dot == std::string_view::npos ? "builtins" : whole.substr(0, dot));
}

bool is_script(const State& state, PyObject* object) {
  if (!PyModule_Check(object)) return false;
  PyObject* name = raw_get(PyModule_GetDict(object), state.names.name.get());
  return name != nullptr && PyUnicode_Check(name) && is_main(state, name) &&
         find_module(state, name) == object;
}

Ref find_by_path(const State& state, PyObject* module_name, PyObject* path) {
  if (module_name == nullptr || !PyUnicode_Check(module_name)) return {};
  if (is_main(state, module_name)) return {};
  PyObject* module = find_module(state, module_name);
  if (module == nullptr || importable_name(state, module) == nullptr) return {};
  return follow(state, module, path);
}

GlobalName find_unimportable(const State& state, PyObject* object,
                             PyObject* module_name, PyObject* path) {
  if (!PyUnicode_Check(module_name)) return {};
  PyObject* module = find_module(state, module_name);
  if (module == nullptr || importable_name(state, module) != nullptr) return {};
  if (follow(state, module, path).get() != object) return {};
  return {Ref::share(module), Ref::share(path)};
}

GlobalName find_global(const State& state, PyObject* object, PyObject* module_name,
                       PyObject* path) {
  if (find_by_path(state, module_name, path).get() != object) return {};
  return {Ref::share(find_module(state, module_name)), Ref::share(path)};
}

GlobalName find_in_module(const State& state, PyObject* type, PyObject* module) {
  const Ref path = Ref::steal(PyType_GetQualName(as_type(type)));
  return find_global(state, type, module_name(state, module), path.get());
}

GlobalName find_anywhere(const State& state, PyObject* object, PyObject* path) {
  auto* type = type_of(object);
  const Ref home = attribute_or_null(type, state.names.module);
  if (GlobalName found = find_global(state, object, home.get(), path); found.module) {
    return found;
  }
  PyObject* modules = sys_modules(state);
  if (modules == nullptr) return {};
  const Ref names = Ref::steal(PyDict_Keys(modules));
  GlobalName first;
  PyObject* first_name = nullptr;
  for (PyObject* name : items_of(names.get())) {
    if (!PyUnicode_Check(name)) continue;
    if (first_name != nullptr && PyUnicode_Compare(name, first_name) > 0) continue;
    try {
      GlobalName found = find_global(state, object, name, path);
      if (!found.module) continue;
      first = std::move(found);
      first_name = name;
    } catch (const PyError&) {
      // A property of an unrelated object with that name has failed.
      if (!PyErr_ExceptionMatches(PyExc_Exception)) throw;
      PyErr_Clear();
    }
  }
  return first;
}

PyObject* name_in(PyObject* dict, PyObject* object) {
  for (const auto& [name, value] : DictItems(dict)) {
    if (value == object && PyUnicode_CheckExact(name) && PyUnicode_IsIdentifier(name)) {
      return name;
    }
  }
  return nullptr;
}

GlobalName find_inner_module(const State& state, PyObject* module) {
  PyObject* dict = PyModule_GetDict(module);
  if (raw_get(dict, state.names.file.get()) != nullptr || spec_of(state, module)) {
    return {};
  }
  for (const auto& [key, value] : DictItems(dict)) {
    if (!PyType_Check(value)) continue;
    const Ref full_name = module_of_type(state, as_type(value));
    const Ref outer = parent_of(full_name.get());
    if (!outer) continue;
    const Py_ssize_t start = PyUnicode_GET_LENGTH(outer.get()) + 1;
    const Ref name = Ref::steal(PyUnicode_Substring(
        full_name.get(), start, PyUnicode_GET_LENGTH(full_name.get())));
    GlobalName found = find_global(state, module, outer.get(), name.get());
    if (found.module) return found;
  }
  return {};
}

bool is_in_builtins(const State& state, PyObject* object, PyObject* name) {
  PyObject* builtins = find_module(state, state.names.builtins_plain.get());
  return builtins != nullptr && look_up_in(state, builtins, name) == object;
}

Ref name_of_builtin_type(const State& state, PyObject* object) {
  if (!PyType_CheckExact(object)) return {};
  auto* type = as_type(object);
  const std::string_view name = type->tp_name;
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) || name.find('.') != name.npos) {
    return {};
  }
  Ref text = state.intern_table.get(name);
  return is_in_builtins(state, object, text.get()) ? text : Ref();
}

GlobalName find_function(const State& state, PyObject* function) {
  auto* f = as_function(function);
  // "<lambda>" and "f.<locals>.g" are not paths.
  if (PyUnicode_FindChar(f->func_qualname, '<', 0,
                         PyUnicode_GET_LENGTH(f->func_qualname), 1) >= 0) {
    return {};
  }
  return find_global(state, function, f->func_module, f->func_qualname);
}

GlobalName find_type(const State& state, PyTypeObject* type) {
  auto* object = as_object(type);
  // For a class whose metaclass is type, type.__module__ reads the dict.
  const bool is_in_dict =
      PyType_CheckExact(object) && PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE);
  const Ref module = is_in_dict ? Ref::share(raw_get(type, state.names.module.get()))
                                : attribute_or_null(object, state.names.module);
  if (!module) return {};
  Ref path = Ref::steal(PyType_GetQualName(type));
  GlobalName found = find_global(state, object, module.get(), path.get());
  if (found.module) return found;
  if (found = find_renamed(state, object, module.get(), path.get()); found.module) {
    return found;
  }
  // Builtin types that builtins does not have, such as that of functions, are in
  // `types`. A metaclass may make its classes unhashable, but no builtin type has such
  // a metaclass.
  if (Py_TYPE(type)->tp_hash != PyType_Type.tp_hash) return {};
  PyObject* name = raw_get(state.named_types.get(), object);
  if (name == nullptr) return {};
  return find_global(state, object, state.names.types.get(), name);
}

LazyTarget lazy_target(PyObject* placeholder) {
  // Only tp_traverse of the placeholder shows its target: the name of a module and, for
  // `from name import attribute`, a tuple; or another placeholder and the name of an
  // attribute of its target.
  PyTypeObject* type = Py_TYPE(placeholder);
  PyObject* attribute = nullptr;
  for (PyObject* current = placeholder;;) {
    PyObject* inner = nullptr;
    PyObject* text = nullptr;
    bool has_list = false;
    for (PyObject* object : referents_of(current)) {
      if (Py_TYPE(object) == type && inner == nullptr) inner = object;
      if (PyUnicode_Check(object) && text == nullptr) text = object;
      has_list = has_list || PyTuple_Check(object);
    }
    if (text == nullptr) return {};
    if (inner != nullptr) {
      if (attribute == nullptr) attribute = text;
      current = inner;
      continue;
    }
    if (attribute == nullptr) return {Ref::share(text), {}, Ref::share(text)};
    if (has_list) return {Ref::share(text), Ref::share(attribute), Ref::share(text)};
    // `import a.b.c as d` binds the same as `from a.b import c`.
    return {parent_of(text), Ref::share(attribute), Ref::share(text)};
  }
}

GlobalName find_by_own_name(const State& state, PyObject* object) {
  if (PyType_Check(object)) {
    return find_type(state, as_type(object));
  }
  if (PyFunction_Check(object)) return find_function(state, object);
  if (!PyCFunction_CheckExact(object)) return {};
  auto* function = reinterpret_cast<PyCFunctionObject*>(object);
  const bool is_of_module =
      function->m_self == nullptr || PyModule_Check(function->m_self);
  if (!is_of_module || function->m_module == nullptr) return {};
  const Ref path = Ref::steal(PyUnicode_FromString(function->m_ml->ml_name));
  return find_global(state, object, function->m_module, path.get());
}

GlobalName find_in_type(const State& state, PyObject* object) {
  if (!PyCFunction_CheckExact(object)) return {};
  auto* function = reinterpret_cast<PyCFunctionObject*>(object);
  if (function->m_self == nullptr || !PyType_Check(function->m_self)) return {};
  auto* type = as_type(function->m_self);
  const Ref name = interned(function->m_ml->ml_name);
  // The dict of a static type cannot be changed.
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ||
      raw_get(type, name.get()) != object) {
    return {};
  }
  GlobalName found = find_type(state, type);
  if (!found.module) return {};
  found.path = Ref::steal(PyUnicode_FromFormat("%U.%U", found.path.get(), name.get()));
  return found;
}

PyObject* importable_name(const State& state, PyObject* module, PyObject* loaded) {
  PyObject* name = module_name(state, module, loaded);
  if (name == nullptr || is_main(state, name)) return nullptr;
  const Origin origin = origin_of(state, module, name, loaded);
  const bool is_lost =
      origin.spec == nullptr ||
      raw_get(state.unfindable_modules.get(), origin.name.get()) == origin.spec;
  return is_lost ? nullptr : name;
}

bool is_findable(const State& state, PyObject* module) {
  // The common case: finders have found the module under its __name__ before.
  PyObject* name = look_up_in(state, module, state.names.name.get());
  PyObject* own_spec = spec_of(state, module);
  if (name != nullptr && PyUnicode_Check(name) && own_spec != nullptr &&
      raw_get(state.findable_modules.get(), name) == own_spec) {
    return true;
  }
  PyObject* loaded = sys_modules(state);
  name = module_name(state, module, loaded);
  if (name == nullptr || is_main(state, name)) return false;
  const Origin origin = origin_of(state, module, name, loaded);
  if (origin.spec == nullptr) return false;
  if (raw_get(state.findable_modules.get(), origin.name.get()) == origin.spec) {
    return true;
  }
  if (raw_get(state.unfindable_modules.get(), origin.name.get()) == origin.spec) {
    return false;
  }
  const Ref spec = Ref::share(origin.spec);
  const Ref answer = call(state.is_found.get(), origin.name.get(), spec.get());
  const bool is_found = answer.get() == Py_True;
  const Ref& answers = is_found ? state.findable_modules : state.unfindable_modules;
  check(PyDict_SetItem(answers.get(), origin.name.get(), spec.get()));
  return is_found;
}

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
    // Import statements only test whether __path__ exists.
    const Ref path = Ref::steal(PyList_New(0));
    set(names.path, path.get());
  }
}

}  // namespace waybill::py
