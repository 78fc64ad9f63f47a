"""Reducers of universal functions of NumPy and of its dependents; see ``_reducers``."""

import gc
import sys
import types
from importlib.machinery import ExtensionFileLoader

#: Searched first: a full search takes longer. Before NumPy 2.2 no ufunc has a module.
_HOMES = "numpy", "scipy.special", "numpy._core.umath", "numpy.core.umath"


def reduce_ufunc(obj):
    name = obj.__name__
    if name.endswith(" (vectorized)"):
        return _reduce_vectorized(obj)
    if getattr(obj, "__module__", None) is not None:
        return name
    for home in _HOMES:
        module = sys.modules.get(home)
        if module is not None and _raw(module).get(name) is obj:
            return getattr, (module, name)
    module = _module_in_c(name, obj)
    # For a str, the extension searches all modules, even if the name is dotted.
    return (getattr, (module, name)) if module else name


def _module_in_c(name, obj):
    """The outermost package that has a ufunc and contains the module in C that has it.

    Other modules that have imported it do not count: which of them are loaded differs
    between processes.
    """
    loaded = list(sys.modules.items())
    found = {key: module for key, module in loaded if _raw(module).get(name) is obj}
    for key in sorted(found):
        loader = getattr(_raw(found[key]).get("__spec__"), "loader", None)
        if isinstance(loader, ExtensionFileLoader):
            return found[min(k for k in found if f"{key}.".startswith(f"{k}."))]
    return None


def _raw(module):
    # Never getattr(): a lazy module would load itself.
    return _DICT(module) if isinstance(module, types.ModuleType) else {}


_DICT = vars(types.ModuleType)["__dict__"].__get__


def _reduce_vectorized(obj):
    functions = [f for f in gc.get_referents(obj) if callable(f)]
    if len(functions) != 1:
        raise TypeError(
            f"{obj!r} is neither in a module nor made of one function, as by "
            "numpy.frompyfunc"
        )
    identity = {} if obj.identity is None else {"identity": obj.identity}
    counts = (obj.nin, obj.nout)  # codespell:ignore nin
    return make_ufunc, (functions[0], *counts, identity)


def make_ufunc(function, count_in, count_out, identity):
    """The ufunc that numpy.frompyfunc makes of a function."""
    import numpy

    return numpy.frompyfunc(function, count_in, count_out, **identity)
