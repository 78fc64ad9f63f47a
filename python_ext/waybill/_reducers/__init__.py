"""Reducers for builtin types and for types of the standard library.

The extension fetches the two tables once. Reducers work as in ``copyreg``: they take an
object and return a callable, its arguments and possibly more; or a str, the name under
which the object's module has it.
"""

import builtins
import gc
import sys
import types

from waybill._classes import declarative


def _reduce_property(obj):
    if _reduces_itself(obj):
        return obj.__reduce_ex__(5)
    # Instances of subclasses may have a doc in their dict, which property puts there.
    doc = _DOC_OF_PROPERTY.__get__(obj)
    parts = obj.fget, obj.fset, obj.fdel, doc
    state = getattr(obj, "__dict__", None)
    if type(obj).__init__ is not property.__init__:
        return make_property, (type(obj), *parts), state
    return type(obj), parts, state


def make_property(cls, *parts):
    """A property whose class has an ``__init__`` that takes something else."""
    made = property.__new__(cls)
    property.__init__(made, *parts)
    return made


_DOC_OF_PROPERTY = vars(property)["__doc__"]


def _reduce_wrapped(obj):
    # What wraps a function has copies of its attributes in its dict.
    if _reduces_itself(obj):
        return obj.__reduce_ex__(5)
    if getattr(obj.__func__, "__module__", None) == "typing":
        return _reduce_of_typing(obj)
    return type(obj), (obj.__func__,)


def _reduces_itself(obj):
    """Whether the author of a subclass said how it is reduced."""
    cls = type(obj)
    own = (cls.__reduce__, cls.__reduce_ex__, cls.__getstate__)
    return own != (object.__reduce__, object.__reduce_ex__, object.__getstate__)


def _reduce_method(obj):
    return types.MethodType, (obj.__func__, obj.__self__)


def _reduce_partial(obj):
    # Looking at its __dict__ is what makes that; an empty one is as good as none.
    made, arguments, (function, positional, keywords, attributes) = obj.__reduce__()
    return made, arguments, (function, positional, keywords, attributes or None)


def _reduce_mapping_proxy(obj):
    mapping = gc.get_referents(obj)[0]
    for value in obj.values() if type(mapping) is dict else ():
        if type(value) is types.GetSetDescriptorType:
            cls = value.__objclass__
            if gc.get_referents(vars(cls))[0] is mapping:
                return vars, (cls,)
    return types.MappingProxyType, (mapping,)


def _later(topic, name):
    """A reducer of waybill._kinds, which is loaded when it is needed."""

    def reduce(*given):
        module = __import__(f"waybill._kinds.{topic}", fromlist=[name])
        return getattr(module, name)(*given)

    return reduce


def _exceptions():
    kinds = vars(builtins).values()
    return [k for k in kinds if isinstance(k, type) and issubclass(k, BaseException)]


_reduce_view = _later("collections", "reduce_view")
_reduce_class_descriptor = _later("callables", "reduce_class_descriptor")
_reduce_of_typing = _later("annotations", "reduce_wrapped_of_typing")

#: Reducers by exact type, asked before those of copyreg.
REDUCERS = {
    property: _reduce_property,
    classmethod: _reduce_wrapped,
    staticmethod: _reduce_wrapped,
    types.MethodType: _reduce_method,
    types.MappingProxyType: _reduce_mapping_proxy,
    type({}.keys()): _reduce_view,
    type({}.values()): _reduce_view,
    type({}.items()): _reduce_view,
    memoryview: _later("buffers", "reduce_memory_view"),
    super: _later("callables", "reduce_super"),
    types.ClassMethodDescriptorType: _reduce_class_descriptor,
    types.GetSetDescriptorType: _reduce_class_descriptor,
    types.TracebackType: _later("errors", "reduce_traceback"),
    **dict.fromkeys(_exceptions(), _later("errors", "reduce_exception")),
}


def reduce_to_name(obj):
    """For sentinels of dataclasses, which compares them by identity: they must be found
    again. The extension looks for them likewise, as place_in_module() there."""
    found = vars(sys.modules["dataclasses"])
    for name in found:  # CPython 3.11 crashes at items() where memory ends.
        if found[name] is obj:
            return name  # A global of the module that its class names.
    return obj.__reduce_ex__(4)


def _reduce_type_variable(obj):
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
    kind = type(obj)
    if hasattr(obj, "has_default") and obj.has_default():
        options["default"] = obj.__default__
        # Before 3.13 typing_extensions makes such of typing's type.
        kind = kind if sys.version_info >= (3, 13) else _extended(kind)
    constraints = getattr(obj, "__constraints__", ())
    return make_type_variable, (kind, obj.__name__, constraints, options)


def _extended(kind):
    return getattr(sys.modules["typing_extensions"], kind.__name__)


def _evaluator_of(variable):
    found = [r for r in gc.get_referents(variable) if type(r) is types.FunctionType]
    if len(found) != 1:
        raise TypeError(f"the bound of {variable!r} cannot be evaluated")
    return found[0]


def make_deferred_type_variable(name, evaluator):
    """A type variable whose bound is evaluated when it is asked for (3.12)."""
    require_identifier(name)
    scope = {"evaluator": evaluator}
    # From 3.14 on such functions are told a format; 1 is that of values.
    call = "evaluator(1)" if sys.version_info >= (3, 14) else "evaluator()"
    exec(f"def function[{name}: {call}](): pass", scope)
    return scope["function"].__type_params__[0]


def make_type_variable(kind, name, constraints, options):
    try:
        return kind(name, *constraints, **options)
    except TypeError:
        # What checkers of types read: no inferred variance before 3.12, no default
        # before 3.13, no variance of a TypeVarTuple before 3.15.
        unknown = {"infer_variance"}
        if kind.__name__ == "TypeVarTuple":
            unknown |= {"covariant", "contravariant"}
        if sys.version_info < (3, 13):
            unknown.add("default")
        if not unknown & options.keys():
            raise
        known = {k: v for k, v in options.items() if k not in unknown}
        return kind(name, *constraints, **known)


def _reduce_lru_cache(obj):
    attributes = {k: v for k, v in vars(obj).items() if k != "__wrapped__"}
    state = obj.__wrapped__, attributes
    return make_lru_cache, (obj.cache_parameters(),), state, None, None, set_lru_cache


def make_lru_cache(parameters):
    """An empty cache of these settings; the function comes later: it may use it."""
    import functools

    return functools.lru_cache(**parameters)(functools.partial(print))


def set_lru_cache(cache, state):
    """Gives a cache of make_lru_cache its function and its attributes."""
    function, attributes = state
    cache.__wrapped__.__setstate__((function, (), {}, None))
    own = vars(cache)
    own.clear()  # The order of what it has is that of the sender.
    own.update(attributes)
    cache.__wrapped__ = function


_WITH_CACHES_OF_PANDAS = (
    "ArrowExtensionArray ArrowStringArray BooleanArray Categorical DatetimeArray "
    "FloatingArray IntegerArray IntervalArray NumpyExtensionArray PeriodArray "
    "SparseArray StringArray TimedeltaArray ArrowDtype BooleanDtype Float32Dtype "
    "Float64Dtype Int8Dtype Int16Dtype Int32Dtype Int64Dtype UInt8Dtype UInt16Dtype "
    "UInt32Dtype UInt64Dtype"
)


def _reduce_struct(obj):
    return type(obj), (obj.format,)


#: Names of types whose instances know module and name: they are found again by them
#: where that module can be imported, before a reducer is asked.
SELF_NAMED = frozenset(
    {
        "NewType",
        "ParamSpec",
        "TypeAliasType",
        "TypeVar",
        "TypeVarTuple",
        "_lru_cache_wrapper",
    }
)


#: Asked with an object, the name that it says it has in a module, whether a module
#: that travels by value has it there, and the names of those that a caller named: as no
#: import finds the object so, answers what it is made of.
take_global_apart = _later("by_value", "take_global_apart")

#: Asked with an object that refuses to travel and is a global of such a module, or an
#: attribute of a class of it, as is said then: the reducer's answer that makes a new
#: thread-local, or a new lock of a class; None for all else.
fresh_global = _later("by_value", "fresh_global")

#: Asked with what tells a class, as proxies and mocks do; its type is what counts.
reduce_by_type = _later("instances", "reduce_by_type")

#: Asked with arrays that share memory, and where each lies: what tells how they travel.
plan_of_arrays = _later("array_views", "plan_of_arrays")
copy_in_order = _later("array_views", "copy_in_order")

#: Asked with an object that object.__reduce_ex__ cannot take apart.
reduce_by_members = _later("instances", "reduce_by_members")


def with_globals(module, carrier):
    """The ``__module__`` of a class, once the globals of its methods are there."""
    return module


#: Asked with what an extension module of a package by value made, with the name of that
#: module, and where the object is found: the reducer's answer that makes a stand-in.
stand_in_answer = _later("missing_modules", "stand_in_answer")

#: Asked with an object that is met before its class can make it.
reduce_without_class = _later("instances", "reduce_without_class")

#: Asked with the name of a module that cannot be imported, and the error.
stand_in_for = _later("missing_modules", "stand_in_for")

#: Callables of reducers: what they make has an id, by which a receiver knows it again.
IDENTIFIED = frozenset({make_type_variable, make_deferred_type_variable})

#: The same for types of modules that need not be loaded: a module, and names that it
#: has types under; their reducer, or where that is in waybill._kinds.
_ROWS = {
    "_io TextIOWrapper BufferedReader BufferedWriter BufferedRandom FileIO": (
        "files.reduce_file"
    ),
    "_json Encoder": "json_parts.reduce_encoder",
    "_json Scanner": "json_parts.reduce_scanner",
    "_struct Struct": _reduce_struct,
    "_weakrefset WeakSet": "collections.reduce_weak_set",
    "annotationlib ForwardRef": "annotations.reduce_forward_reference",
    "builtins odict_keys odict_values odict_items": "collections.reduce_ordered_view",
    "collections _deque_reverse_iterator": "collections.reduce_reversed_deque",
    "contextlib _GeneratorContextManager _AsyncGeneratorContextManager": (
        "callables.reduce_generator_context"
    ),
    "contextvars Context": "context_variables.reduce_context",
    "contextvars ContextVar": "context_variables.reduce_context_variable",
    # Before 3.14.
    "_contextvars Context": "context_variables.reduce_context",
    "_contextvars ContextVar": "context_variables.reduce_context_variable",
    "dataclasses _FIELD_BASE _HAS_DEFAULT_FACTORY_CLASS _KW_ONLY_TYPE _MISSING_TYPE": (
        reduce_to_name
    ),
    "functools KeyWrapper": "callables.reduce_comparison_key",
    "functools _lru_cache_wrapper": _reduce_lru_cache,
    "functools cached_property": "callables.reduce_cached_property",
    "functools partial": _reduce_partial,
    "functools partialmethod": "callables.reduce_partial_method",
    "functools singledispatchmethod": "callables.reduce_dispatching_method",
    "itertools count": "collections.reduce_count",
    "itertools repeat": "collections.reduce_repeat",
    "logging StreamHandler FileHandler NullHandler _StderrHandler": (
        "logs.reduce_handler"
    ),
    "logging.handlers MemoryHandler RotatingFileHandler TimedRotatingFileHandler": (
        "logs.reduce_handler"
    ),
    "logging.handlers WatchedFileHandler": "logs.reduce_handler",
    "tempfile _TemporaryFileWrapper": "files.reduce_temporary_file",
    "typing ForwardRef": "annotations.reduce_forward_reference",
    "typing NewType": "annotations.reduce_new_type",
    "typing ParamSpecArgs ParamSpecKwargs": "annotations.reduce_parameters",
    "typing TypeAliasType": "annotations.reduce_type_alias",
    "typing TypeVar ParamSpec TypeVarTuple": _reduce_type_variable,
    "typing _GenericAlias": "annotations.reduce_generic_alias",
    "weakref ReferenceType": "collections.reduce_weak_reference",
    "weakref WeakKeyDictionary": "collections.reduce_weak_key_dictionary",
    "weakref WeakMethod": "collections.reduce_weak_method",
    "weakref WeakValueDictionary": "collections.reduce_weak_value_dictionary",
    # Of libraries.
    "mpmath.ctx_fp FPContext": "mpmath_contexts.reduce_context",
    "mpmath.ctx_iv MPIntervalContext": "mpmath_contexts.reduce_context",
    "mpmath.ctx_iv ivmpf_constant": "mpmath_contexts.reduce_constant",
    "mpmath.ctx_mp MPContext": "mpmath_contexts.reduce_context",
    "mpmath.ctx_mp_python constant": "mpmath_contexts.reduce_constant",
    "numpy ufunc": "ufuncs.reduce_ufunc",
    f"pandas {_WITH_CACHES_OF_PANDAS}": "pandas_arrays.reduce_without_cache",
    f"pandas.arrays {_WITH_CACHES_OF_PANDAS}": "pandas_arrays.reduce_without_cache",
    "pydantic._internal._decorators Decorator": "pydantic_models.reduce_decorator",
    "pydantic._internal._validate_call ValidateCallWrapper": (
        "pydantic_models.reduce_validated_call"
    ),
    "pydantic.type_adapter TypeAdapter": "pydantic_models.reduce_type_adapter",
    "torch.storage TypedStorage": "torch_storages.reduce_typed_storage",
    "torch.storage UntypedStorage": "torch_storages.reduce_untyped_storage",
    **declarative.ROWS,
}

#: The rows as the extension looks them up: {name: {module: reducer}}.
NAMED_REDUCERS: dict[str, dict[str, object]] = {}
for _row, _reducer in _ROWS.items():
    _module, *_names = _row.split()
    if isinstance(_reducer, str):
        _reducer = _later(*_reducer.split("."))
    for _name in _names:
        NAMED_REDUCERS.setdefault(_name, {})[_module] = _reducer


def require_identifier(name):
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
        require_identifier(part)
    if name is not None:
        require_identifier(name)
    scope = {"__name__": "waybill", "__package__": ""}
    if name is None:
        exec(f"lazy import {module}", scope)
        bound = module.partition(".")[0]
    else:
        exec(f"lazy from {module} import {name}", scope)
        bound = name
    return dict.__getitem__(scope, bound)
