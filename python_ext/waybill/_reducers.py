"""The codecs' half that is Python: reducers for builtin types, and classes by value.

The extension fetches these once. Reducers work as in ``copyreg``: they take an object
and return a callable, its arguments and possibly more.
"""

import gc
import sys
import types


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


#: The same for types of modules that need not be loaded: {name: {module: reducer}}.
NAMED_REDUCERS = {
    "_FIELD_BASE": {"dataclasses": _reduce_dataclass_sentinel},
    "_MISSING_TYPE": {"dataclasses": _reduce_dataclass_sentinel},
    "_KW_ONLY_TYPE": {"dataclasses": _reduce_dataclass_sentinel},
    "_HAS_DEFAULT_FACTORY_CLASS": {"dataclasses": _reduce_dataclass_sentinel},
    "_lru_cache_wrapper": {"functools": _reduce_lru_cache},
    "TypeVar": {"typing": _reduce_type_variable},
    "ParamSpec": {"typing": _reduce_type_variable},
    "TypeVarTuple": {"typing": _reduce_type_variable},
}

# What a class gets from type(), its metaclass or copyreg, and not from its author.
_GIVEN = frozenset(
    {
        "__dict__",
        "__weakref__",
        "__module__",
        "__qualname__",
        "__slotnames__",
        "__abstractmethods__",
        "_abc_impl",
        "__firstlineno__",  # As of code: equal classes are equal wherever they stand.
    }
)


def class_parts(cls):
    """What describes a class: metaclass, name, bases, namespace, attributes.

    The namespace is what the class is made with; the attributes are set on it once it
    is there, so that they may refer to it. A str is the name under which the class's
    module has it, where that is another than its own.
    """
    if _is_made_in_c(cls):
        module = sys.modules.get(cls.__module__)
        for name, value in vars(module).items() if module else ():
            if value is cls:
                return name
        raise TypeError(f"{cls!r} is made in C and no module has it under a name")
    _refuse_what_cannot_be_made(cls)
    own = {k: v for k, v in vars(cls).items() if k not in _GIVEN}
    namespace = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
    slots = own.pop("__slots__", None)
    if slots is not None:
        namespace["__slots__"] = slots
        for name in (slots,) if isinstance(slots, str) else slots:
            own.pop(_mangled(cls, name), None)
    doc = own.pop("__doc__", None)
    if doc is not None:
        namespace["__doc__"] = doc
    enum = sys.modules.get("enum")
    if enum is not None and isinstance(cls, enum.EnumMeta):
        states = {n: _state_of_member(m) for n, m in cls.__members__.items()}
        own = _without_members(cls, own, enum)
        own["_member_map_"] = {n: state for n, state in states.items() if state}
        if issubclass(cls, enum.Flag):
            namespace["_boundary_"] = cls._boundary_
        for name, member in cls.__members__.items():
            namespace[name] = member._value_
    # 3.14 keeps deferred annotations under names of its own; evaluated ones are only
    # a cache of what the function gives.
    annotate = own.pop("__annotate_func__", None)
    evaluated = own.pop("__annotations_cache__", None)
    if annotate is not None:
        own["__annotate__"] = annotate
    elif evaluated is not None:
        own["__annotations__"] = evaluated
    registered = _registered_in(cls)
    if registered:
        own["_abc_impl"] = registered
    # Methods first: an instance among the attributes may need them to be built.
    own = dict(sorted(own.items(), key=lambda item: not _is_method(item[1])))
    bases = cls.__bases__
    if getattr(sys.modules.get("typing"), "Generic", None) in bases:
        # As they were written: Generic[T] is more than Generic.
        bases = own.pop("__orig_bases__", bases)
    return type(cls), cls.__name__, list(bases), namespace, own


def _is_method(value):
    return isinstance(
        value, (types.FunctionType, classmethod, staticmethod, property)
    )


def _is_made_in_c(cls):
    kinds = (
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
        types.ClassMethodDescriptorType,
    )
    return any(type(v) in kinds and v.__objclass__ is cls for v in vars(cls).values())


def _refuse_what_cannot_be_made(cls):
    """Raises TypeError for classes that make_class could not make again."""
    if type(cls).__name__ == "_TypedDictMeta":
        raise TypeError("a TypedDict cannot be sent by value; define it in a module")
    for base in cls.__mro__[1:]:
        hook = vars(base).get("__init_subclass__")
        code = getattr(getattr(hook, "__func__", None), "__code__", None)
        if code is None:
            continue
        names = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
        needed = [n for n in names if n not in (hook.__func__.__kwdefaults__ or {})]
        if needed:
            raise TypeError(
                f"{base.__qualname__}.__init_subclass__ needs the keyword {needed[0]!r}, "
                "which a class does not keep; define it in a module"
            )


def _registered_in(cls):
    """The virtual subclasses that were registered with an abstract class."""
    if "_abc_impl" not in vars(cls):
        return []
    from _abc import _get_dump

    found = [reference() for reference in _get_dump(cls)[0]]
    alive = [found_class for found_class in found if found_class is not None]
    return sorted(alive, key=lambda c: (c.__module__, c.__qualname__))


def _without_members(cls, own, enum):
    """What an enumeration's author put there beside the members.

    EnumMeta derives the members, all names in single underscores, and the methods
    that it takes from Enum.
    """
    bases = (enum.Enum, enum.Flag, enum.IntEnum, enum.IntFlag)
    inherited = {id(v) for base in bases for v in vars(base).values()}
    return {
        name: value
        for name, value in own.items()
        if name not in cls.__members__
        and id(value) not in inherited
        and not (name[0] == "_" and name[1:2] != "_" and name[-1] == "_")
        and name not in ("__new__", "__new_member__")
    }


def _state_of_member(member):
    """What __init__ or __new__ of an enumeration gave to a member."""
    given = ("_value_", "_name_", "__objclass__", "_sort_order_")
    return {k: v for k, v in vars(member).items() if k not in given}


def _mangled(cls, name):
    private = name.startswith("__") and not name.endswith("__")
    return f"_{cls.__name__.lstrip('_')}{name}" if private else name


def make_class(metaclass, name, bases, namespace):
    """A new class, without the attributes that set_class_attribute sets."""

    def body(scope):
        # One by one: the namespace of an enumeration watches what is set.
        for key, value in namespace.items():
            scope[key] = value

    keywords = {"metaclass": metaclass}
    if "_boundary_" in namespace:
        keywords["boundary"] = namespace.pop("_boundary_")
    return types.new_class(name, tuple(bases), keywords, body)


def set_class_attribute(cls, name, value):
    """Sets one of the attributes that class_parts told."""
    if name == "_abc_impl":
        for registered in value:
            cls.register(registered)
    elif name == "_member_map_":
        for member, state in value.items():
            vars(cls.__members__[member]).update(state)
    else:
        setattr(cls, name, value)


def finish_class(cls):
    """Does what follows from the attributes once all of them are set."""
    update = getattr(sys.modules.get("abc"), "update_abstractmethods", None)
    if update is not None:
        update(cls)


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


