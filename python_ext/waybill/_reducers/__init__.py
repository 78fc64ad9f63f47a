"""Reducers for builtin types, and for types of the standard library and of libraries.

The extension loads the tables REDUCERS and NAMED_REDUCERS once; new rows go into
`_ROWS`, which the latter is made of. Reducers are those of ``copyreg``: they take an
object, and return a callable with its arguments and possibly more, or a str, the name
of the object in its module.
"""

import builtins
import gc
import sys
import types

from waybill._classes import declarative


def _reduce_property(obj):
    if _has_own_reduction(obj):
        return obj.__reduce_ex__(5)
    # For an instance of a subclass, property stores the doc in the instance's dict.
    doc = _DOC_OF_PROPERTY.__get__(obj)
    parts = obj.fget, obj.fset, obj.fdel, doc
    state = getattr(obj, "__dict__", None)
    if type(obj).__init__ is not property.__init__:
        return make_property, (type(obj), *parts), state
    return type(obj), parts, state


def make_property(cls, *parts):
    """Does not call the ``__init__`` of the subclass, whose parameters may differ."""
    made = property.__new__(cls)
    property.__init__(made, *parts)
    return made


_DOC_OF_PROPERTY = vars(property)["__doc__"]


def _reduce_wrapped(obj):
    if _has_own_reduction(obj):
        return obj.__reduce_ex__(5)
    if getattr(obj.__func__, "__module__", None) == "typing":
        return _reduce_of_typing(obj)
    # The dict is not sent: it holds copies of the function's attributes.
    return type(obj), (obj.__func__,)


def _has_own_reduction(obj):
    """Whether a subclass defines how its instances are reduced."""
    cls = type(obj)
    own = (cls.__reduce__, cls.__reduce_ex__, cls.__getstate__)
    return own != (object.__reduce__, object.__reduce_ex__, object.__getstate__)


def _reduce_method(obj):
    return types.MethodType, (obj.__func__, obj.__self__)


def _reduce_partial(obj):
    # __reduce__ may have created the __dict__, so an empty one must not change bytes.
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


def _lazy_reducer(module_name, name):
    """A reducer that loads the one of waybill._kinds at its first call."""

    def reduce(*given):
        module = __import__(f"waybill._kinds.{module_name}", fromlist=[name])
        return getattr(module, name)(*given)

    return reduce


def _exceptions():
    kinds = vars(builtins).values()
    return [k for k in kinds if isinstance(k, type) and issubclass(k, BaseException)]


_reduce_view = _lazy_reducer("collections", "reduce_view")
_reduce_class_descriptor = _lazy_reducer("callables", "reduce_class_descriptor")
_reduce_of_typing = _lazy_reducer("annotations", "reduce_wrapped_of_typing")

#: Reducers by exact type; they take precedence over those of copyreg.
REDUCERS = {
    property: _reduce_property,
    classmethod: _reduce_wrapped,
    staticmethod: _reduce_wrapped,
    types.MethodType: _reduce_method,
    types.MappingProxyType: _reduce_mapping_proxy,
    type({}.keys()): _reduce_view,
    type({}.values()): _reduce_view,
    type({}.items()): _reduce_view,
    memoryview: _lazy_reducer("buffers", "reduce_memory_view"),
    super: _lazy_reducer("callables", "reduce_super"),
    types.ClassMethodDescriptorType: _reduce_class_descriptor,
    types.GetSetDescriptorType: _reduce_class_descriptor,
    types.TracebackType: _lazy_reducer("errors", "reduce_traceback"),
    **dict.fromkeys(_exceptions(), _lazy_reducer("errors", "reduce_exception")),
}


def reduce_to_name(obj):
    """Reduces a sentinel of dataclasses, which are compared by identity, to its name.
    place_in_module() of the extension does the same."""
    found = vars(sys.modules["dataclasses"])
    for name in found:  # Not items(): CPython 3.11 crashes there if memory runs out.
        if found[name] is obj:
            return name  # A global of the module of its class.
    return obj.__reduce_ex__(4)


def _reduce_type_variable(obj):
    # A parameter of PEP 695 has the module of its type.
    options = {} if obj.__module__ == "typing" else {"module": obj.__module__}
    for option in ("covariant", "contravariant", "infer_variance"):
        if getattr(obj, f"__{option}__", False):
            options[option] = True
    try:
        bound = getattr(obj, "__bound__", None)
    except Exception:
        # The bound of a PEP 695 variable is evaluated lazily, and this fails here.
        return make_deferred_type_variable, (obj.__name__, _evaluator_of(obj))
    if bound is not None:
        options["bound"] = bound
    kind = type(obj)
    if hasattr(obj, "has_default") and obj.has_default():
        options["default"] = obj.__default__
        # Before 3.13, only typing_extensions makes variables with a default. Their type
        # is nevertheless that of typing.
        if sys.version_info < (3, 13):
            kind = getattr(sys.modules["typing_extensions"], kind.__name__)
    constraints = getattr(obj, "__constraints__", ())
    return make_type_variable, (kind, obj.__name__, constraints, options)


def _evaluator_of(variable):
    found = [r for r in gc.get_referents(variable) if type(r) is types.FunctionType]
    if len(found) != 1:
        raise TypeError(f"the bound of {variable!r} cannot be evaluated")
    return found[0]


def make_deferred_type_variable(name, evaluator):
    """A type variable whose bound is evaluated lazily (3.12 and later)."""
    require_identifier(name)
    scope = {"evaluator": evaluator}
    # From 3.14 on, evaluators take a format; 1 is that of values.
    call = "evaluator(1)" if sys.version_info >= (3, 14) else "evaluator()"
    exec(f"def function[{name}: {call}](): pass", scope)
    return scope["function"].__type_params__[0]


def make_type_variable(kind, name, constraints, options):
    """A type variable of the module in ``options``; typing if there is none."""
    given = dict(options)
    module = given.pop("module", "typing")
    made = _make_type_variable(kind, name, constraints, given)
    # It has that of the code that made it.
    made.__module__ = module
    return made


def _make_type_variable(kind, name, constraints, options):
    try:
        return kind(name, *constraints, **options)
    except TypeError:
        # Leaves out options for type checkers that this Python lacks: inferred variance
        # before 3.12, default before 3.13, variance of a TypeVarTuple before 3.15.
        unsupported = {"infer_variance"}
        if kind.__name__ == "TypeVarTuple":
            unsupported |= {"covariant", "contravariant"}
        if sys.version_info < (3, 13):
            unsupported.add("default")
        if not unsupported & options.keys():
            raise
        supported = {k: v for k, v in options.items() if k not in unsupported}
        return kind(name, *constraints, **supported)


def _reduce_lru_cache(obj):
    attributes = {k: v for k, v in vars(obj).items() if k != "__wrapped__"}
    state = obj.__wrapped__, attributes
    return make_lru_cache, (obj.cache_parameters(),), state, None, None, set_lru_cache


def make_lru_cache(parameters):
    """An empty cache. set_lru_cache sets its function, which may refer to it."""
    import functools

    return functools.lru_cache(**parameters)(functools.partial(print))


def set_lru_cache(cache, state):
    """Gives a cache of make_lru_cache its function and its attributes."""
    function, attributes = state
    cache.__wrapped__.__setstate__((function, (), {}, None))
    own = vars(cache)
    own.clear()  # The attributes get the sender's order.
    own.update(attributes)
    cache.__wrapped__ = function


_CACHING_TYPES_OF_PANDAS = (
    "ArrowExtensionArray ArrowStringArray BooleanArray Categorical DatetimeArray "
    "FloatingArray IntegerArray IntervalArray NumpyExtensionArray PeriodArray "
    "SparseArray StringArray TimedeltaArray ArrowDtype BooleanDtype Float32Dtype "
    "Float64Dtype Int8Dtype Int16Dtype Int32Dtype Int64Dtype UInt8Dtype UInt16Dtype "
    "UInt32Dtype UInt64Dtype"
)


def _reduce_struct(obj):
    return type(obj), (obj.format,)


#: Names of types whose instances have the attributes module and name. They are sent by
#: reference, without a reducer, if the module can be imported and has them.
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


#: Reduces an object whose own reducer returned a name in a module by value, which the
#: receiver cannot import. Arguments: the object, the name, whether the module has the
#: object there, and the names of the modules given by the caller.
reduce_global = _lazy_reducer("by_value", "reduce_global")

#: Reduces a thread-local or unlocked lock to a call that makes a new one, where it is
#: a global of a module by value or an attribute of a class of it. None for all else.
reduce_to_fresh = _lazy_reducer("by_value", "reduce_to_fresh")

#: Reduces an object whose ``__class__`` is not its type, such as a proxy or a mock.
reduce_by_type = _lazy_reducer("instances", "reduce_by_type")

#: Plans how arrays that share memory are sent, from their addresses.
plan_of_arrays = _lazy_reducer("array_views", "plan_of_arrays")
copy_in_order = _lazy_reducer("array_views", "copy_in_order")

#: Reduces an object that object.__reduce_ex__ cannot reduce.
reduce_by_members = _lazy_reducer("instances", "reduce_by_members")


def with_globals(module, function):
    """Returns the ``__module__`` of a class. ``function`` is an argument so that it is
    built before the class, and with it the globals that the methods share."""
    return module


#: Reduces an object of an extension module of a package by value to a stand-in.
#: Arguments: the object, the name of the missing module, and the object's place.
reduce_to_stand_in = _lazy_reducer("missing_modules", "reduce_to_stand_in")

#: Reduces an object that is sent before its class is complete.
reduce_without_class = _lazy_reducer("instances", "reduce_without_class")

#: Makes a stand-in for a module, from its name and the error of its import.
stand_in_for = _lazy_reducer("missing_modules", "stand_in_for")

#: Callables whose results have an id, by which a receiver finds an existing one.
IDENTIFIED = frozenset({make_type_variable, make_deferred_type_variable})

#: Reducers of types whose modules need not be loaded. Key: a module, and names of types
#: in it. Value: the reducer, or its place in waybill._kinds.
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
    # The name of the module before 3.14.
    "_contextvars Context": "context_variables.reduce_context",
    "_contextvars ContextVar": "context_variables.reduce_context_variable",
    "dataclasses _FIELD_BASE _HAS_DEFAULT_FACTORY_CLASS _KW_ONLY_TYPE _MISSING_TYPE": (
        reduce_to_name
    ),
    "dataclasses _AutoDocstring": reduce_to_name,  # The __doc__ of all, from 3.15 on.
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
    # Types of libraries.
    "mpmath.ctx_fp FPContext": "mpmath_contexts.reduce_context",
    "mpmath.ctx_iv MPIntervalContext": "mpmath_contexts.reduce_context",
    "mpmath.ctx_iv ivmpf_constant": "mpmath_contexts.reduce_constant",
    "mpmath.ctx_mp MPContext": "mpmath_contexts.reduce_context",
    "mpmath.ctx_mp_python constant": "mpmath_contexts.reduce_constant",
    "numpy ufunc": "ufuncs.reduce_ufunc",
    f"pandas {_CACHING_TYPES_OF_PANDAS}": "pandas_arrays.reduce_without_cache",
    f"pandas.arrays {_CACHING_TYPES_OF_PANDAS}": "pandas_arrays.reduce_without_cache",
    "pydantic._internal._decorators Decorator": "pydantic_models.reduce_decorator",
    "pydantic._internal._validate_call ValidateCallWrapper": (
        "pydantic_models.reduce_validated_call"
    ),
    "pydantic.type_adapter TypeAdapter": "pydantic_models.reduce_type_adapter",
    "torch.storage TypedStorage": "torch_storages.reduce_typed_storage",
    "torch.storage UntypedStorage": "torch_storages.reduce_untyped_storage",
    **declarative.ROWS,
}

#: The rows in the form that the extension uses: {name: {module: reducer}}.
NAMED_REDUCERS: dict[str, dict[str, object]] = {}
for _row, _reducer in _ROWS.items():
    _module, *_names = _row.split()
    if isinstance(_reducer, str):
        _reducer = _lazy_reducer(*_reducer.split("."))
    for _name in _names:
        NAMED_REDUCERS.setdefault(_name, {})[_module] = _reducer


#: Types of the standard library whose own reducers return a call and have no side
#: effects: {name: {module}}. Senders keep functions and classes that refer to objects
#: of these types.
CALL_TYPES: dict[str, set[str]] = {}
for _row in (
    "datetime date datetime time timedelta timezone",
    "decimal Decimal",
    "fractions Fraction",
    "logging Logger RootLogger",
    "operator attrgetter itemgetter methodcaller",
    "pathlib PosixPath PurePosixPath PureWindowsPath WindowsPath",
    "pathlib._local PosixPath PurePosixPath PureWindowsPath WindowsPath",  # 3.13
    "re Pattern",
):
    _module, *_names = _row.split()
    for _name in _names:
        CALL_TYPES.setdefault(_name, set()).add(_module)


def require_identifier(name):
    # The name is inserted into source text, so it must not be able to contain code.
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not an identifier")


def make_lazy_import(module, name):
    """An unresolved lazy import (3.15 and later), or on older versions an eager one.

    ``lazy import`` is a statement for module level, so it is executed in a new dict, in
    which it binds the placeholder.
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
