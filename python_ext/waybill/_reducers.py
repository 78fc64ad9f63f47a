"""Reducers for builtin types and for types of the standard library.

The extension fetches the two tables once. Reducers work as in ``copyreg``: they take an
object and return a callable, its arguments and possibly more; or a str, the name under
which the object's module has it.
"""

import gc
import sys
import types

from waybill import _declarative


def _reduce_property(obj):
    return property, (obj.fget, obj.fset, obj.fdel, obj.__doc__)


def _reduce_wrapped(obj):
    return type(obj), (obj.__func__,)


def _reduce_method(obj):
    return types.MethodType, (obj.__func__, obj.__self__)


def _reduce_mapping_proxy(obj):
    return types.MappingProxyType, (dict(obj),)


def _reduce_module(obj):
    # Only modules that no import finds come here: they are what their dict holds.
    state = {k: v for k, v in vars(obj).items() if k not in _NOT_OF_A_MODULE}
    return types.ModuleType, (obj.__name__, obj.__doc__), state


_NOT_OF_A_MODULE = frozenset(
    {"__name__", "__doc__", "__builtins__", "__loader__", "__spec__"}
)

#: Reducers by exact type, asked before those of copyreg.
REDUCERS = {
    property: _reduce_property,
    classmethod: _reduce_wrapped,
    staticmethod: _reduce_wrapped,
    types.MethodType: _reduce_method,
    types.MappingProxyType: _reduce_mapping_proxy,
    types.ModuleType: _reduce_module,
}


def _own_module_name(obj, name):
    """The name under which an object's module has it; None if it does not."""
    module = sys.modules.get(getattr(obj, "__module__", None))
    if module is None or module is sys.modules.get("__main__"):
        return None
    scope = vars(module)
    is_importable = scope.get("__spec__") is not None
    return name if is_importable and scope.get(name) is obj else None


def _reduce_dataclass_sentinel(obj):
    # dataclasses compares these by identity, so they must be found again.
    for name, value in vars(sys.modules["dataclasses"]).items():
        if value is obj:
            return getattr, (sys.modules["dataclasses"], name)
    return obj.__reduce_ex__(4)


def _reduce_type_variable(obj):
    name = _own_module_name(obj, obj.__name__)
    if name is not None:
        return name
    options = {}
    for option in ("covariant", "contravariant", "infer_variance"):
        if getattr(obj, f"__{option}__", False):
            options[option] = True
    try:
        bound = getattr(obj, "__bound__", None)
    except Exception:
        # PEP 695 evaluates bounds when they are asked for; this one cannot be, yet.
        return make_deferred_type_variable, (obj.__name__, _evaluator_of(obj))
    if bound is not None:
        options["bound"] = bound
    if hasattr(obj, "has_default") and obj.has_default():
        options["default"] = obj.__default__
    constraints = getattr(obj, "__constraints__", ())
    return make_type_variable, (type(obj), obj.__name__, constraints, options)


def _evaluator_of(variable):
    found = [r for r in gc.get_referents(variable) if type(r) is types.FunctionType]
    if len(found) != 1:
        raise TypeError(f"the bound of {variable!r} cannot be evaluated")
    return found[0]


def make_deferred_type_variable(name, evaluator):
    """A type variable whose bound is evaluated when it is asked for (3.12)."""
    _demand_name(name)
    scope = {"evaluator": evaluator}
    # From 3.14 on such functions are told a format; 1 is that of values.
    call = "evaluator(1)" if sys.version_info >= (3, 14) else "evaluator()"
    exec(f"def function[{name}: {call}](): pass", scope)
    return scope["function"].__type_params__[0]


def make_type_variable(kind, name, constraints, options):
    return kind(name, *constraints, **options)


def _reduce_lru_cache(obj):
    name = _own_module_name(obj, getattr(obj, "__qualname__", None))
    if name is not None:
        return name
    state = {k: v for k, v in vars(obj).items() if k != "__wrapped__"}
    return make_lru_cache, (obj.__wrapped__, obj.cache_parameters()), state


def make_lru_cache(function, parameters):
    """An empty cache of the same settings around a function."""
    import functools

    return functools.lru_cache(**parameters)(function)


_MODULES_OF_UFUNCS = (
    "numpy",
    "scipy.special",
    "numpy._core.umath",
    "numpy.core.umath",
    "scipy.special._ufuncs",
)


def _reduce_ufunc(obj):
    # It knows its name and not its module, which is one of few.
    for name in _MODULES_OF_UFUNCS:
        module = sys.modules.get(name)
        if module is not None and vars(module).get(obj.__name__) is obj:
            return getattr, (module, obj.__name__)
    functions = [f for f in gc.get_referents(obj) if callable(f)]
    if len(functions) != 1:
        raise TypeError(f"{obj!r} is in no module")
    identity = {} if obj.identity is None else {"identity": obj.identity}
    counts = (obj.nin, obj.nout)  # codespell:ignore nin
    return make_ufunc, (functions[0], *counts, identity)


def make_ufunc(function, count_in, count_out, identity):
    """What numpy.frompyfunc made of a function."""
    import numpy

    return numpy.frompyfunc(function, count_in, count_out, **identity)


#: Callables of reducers: what they make has an id, by which a receiver knows it again.
IDENTIFIED = frozenset({make_type_variable, make_deferred_type_variable})

#: The same for types of modules that need not be loaded: {name: {module: reducer}}.
NAMED_REDUCERS = {
    "_FIELD_BASE": {"dataclasses": _reduce_dataclass_sentinel},
    "_MISSING_TYPE": {"dataclasses": _reduce_dataclass_sentinel},
    "_KW_ONLY_TYPE": {"dataclasses": _reduce_dataclass_sentinel},
    "_HAS_DEFAULT_FACTORY_CLASS": {"dataclasses": _reduce_dataclass_sentinel},
    "_lru_cache_wrapper": {"functools": _reduce_lru_cache},
    "ufunc": {"numpy": _reduce_ufunc},
    "TypeVar": {"typing": _reduce_type_variable},
    "ParamSpec": {"typing": _reduce_type_variable},
    "TypeVarTuple": {"typing": _reduce_type_variable},
    **_declarative.NAMED_REDUCERS,
}


def _demand_name(name):
    # It becomes part of source text, which must hold nothing but a name there.
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name")


def make_lazy_import(module, name):
    """A lazy import that nobody has resolved (3.15); an eager one before.

    ``lazy import`` is a statement of module level code, so it runs in a dict of its own
    and the placeholder is taken from there.
    """
    if sys.version_info < (3, 15):
        found = __import__(module, fromlist=[name] if name else ())
        return getattr(found, name) if name else found
    for part in module.split("."):
        _demand_name(part)
    if name is not None:
        _demand_name(name)
    scope = {"__name__": "waybill", "__package__": ""}
    if name is None:
        exec(f"lazy import {module}", scope)
        bound = module.partition(".")[0]
    else:
        exec(f"lazy from {module} import {name}", scope)
        bound = name
    return dict.__getitem__(scope, bound)
