"""Reducers of typing: new types, forward references, aliases; see ``_reducers``."""

import copyreg
import functools
import gc
import sys
import types
import typing

from waybill import _reducers


def reduce_new_type(obj):
    return copyreg.__newobj__, (typing.NewType,), dict(vars(obj))


def reduce_parameters(obj):
    # ``P.args`` or ``P.kwargs``.
    return type(obj), (obj.__origin__,)


def reduce_wrapped_of_typing(obj):
    """Reduces a classmethod that typing puts into classes to its name. The function
    uses private globals of typing, which differ between versions."""
    function = obj.__func__
    if vars(typing).get(function.__name__) is obj:
        return function.__name__
    if function is _subscription():
        return make_subscription, ()
    return type(obj), (function,)


def make_subscription():
    """The ``__class_getitem__`` of generic named tuples."""
    return classmethod(_subscription())


def _subscription():
    own = typing.Generic.__class_getitem__  # A method of Python until 3.11.
    return getattr(typing, "_generic_class_getitem", None) or own.__func__


def reduce_forward_reference(obj):
    # Only the text travels. The receiver makes code and value when it uses them, with
    # the globals of the owner.
    text = getattr(obj, "__resolved_str__", obj.__forward_arg__)
    module = obj.__forward_module__
    options = {"is_class": obj.__forward_is_class__}
    creation = (
        make_forward_reference,
        (text, obj.__forward_is_argument__, module, options),
    )
    extras = {name: getattr(obj, name, None) for name in _EXTRA_ATTRIBUTES}
    extras = {name: value for name, value in extras.items() if value is not None}
    if not extras:
        return creation
    extras["__arg__"] = obj.__forward_arg__
    return *creation, extras, None, None, set_forward_reference


#: Attributes of 3.14 and later that do not follow from the text. Names in ``__arg__``
#: refer to the values of ``__extra_names__``.
_EXTRA_ATTRIBUTES = "__owner__", "__cell__", "__extra_names__"


def set_forward_reference(reference, extras):
    """Sets the attributes of _EXTRA_ATTRIBUTES; does nothing before 3.14."""
    if sys.version_info >= (3, 14):
        for name, value in extras.items():
            setattr(reference, name, value)


def make_forward_reference(text, is_argument, module, options):
    if sys.version_info >= (3, 14):  # Compiled on first use.
        return _forward_reference(text, is_argument, module, **options)
    compiled = _compiled_reference(text, is_argument, module, **options)
    # A copy of the cached reference, since each stores its own value.
    made = typing.ForwardRef.__new__(typing.ForwardRef)
    for name in typing.ForwardRef.__slots__:
        setattr(made, name, getattr(compiled, name))
    return made


def _forward_reference(text, is_argument, module, is_class):
    return typing.ForwardRef(
        text, is_argument=is_argument, module=module, is_class=is_class
    )


# Cached, because the constructor compiles. A result depends on the arguments alone.
_compiled_reference = functools.lru_cache(256)(_forward_reference)


def reduce_generic_alias(obj):
    origin = obj.__origin__
    # An alias with a name is one of typing's own, such as typing.Mapping[str, int].
    is_own = isinstance(origin, type) and getattr(obj, "_name", None) is None
    if not is_own or _is_subscribed_by_typing(origin):
        return obj.__reduce__()
    # Do not call the author's __class_getitem__ again: it may return another alias for
    # the same arguments, or use globals that are not loaded yet.
    return make_generic_alias, (origin, obj.__args__)


def _is_subscribed_by_typing(cls):
    """Whether only typing defines the ``__class_getitem__`` of a class."""
    found = [vars(c).get("__class_getitem__") for c in cls.__mro__]
    hook = next(filter(None, found), None)
    function = getattr(hook, "__func__", None)
    return getattr(function, "__module__", "typing") == "typing"


def make_generic_alias(origin, arguments):
    """The alias that ``Generic.__class_getitem__`` makes."""
    return typing._GenericAlias(origin, arguments)


def reduce_type_alias(obj):
    function = _function_in(obj)
    if function is None:  # Made by a call of TypeAliasType.
        options = {"type_params": obj.__type_params__, "module": obj.__module__}
        return make_evaluated_alias, (obj.__name__, obj.__value__, options)
    name = obj.__name__, obj.__module__
    parts = *name, obj.__type_params__, function.__qualname__
    evaluator = vars(function).get("evaluator", function)
    return make_type_alias, parts, evaluator, None, None, set_alias_evaluator


def _function_in(alias):
    """The function that evaluates an alias; None if the alias has its value."""
    held = gc.get_referents(alias)
    return next((r for r in held if type(r) is types.FunctionType), None)


def make_evaluated_alias(name, value, options):
    """An alias with its value (3.12 and later), of the module in ``options``."""
    given = dict(options)
    module = given.pop("module", "typing")
    make = functools.partial(typing.TypeAliasType, name, value, **given)
    # An alias has the module of the code that makes it, and cannot be given another.
    return eval("make()", {"__name__": module, "make": make})


def make_type_alias(name, module, parameters, qualified_name):
    """An alias whose value `set_alias_evaluator` provides later (3.12 and later).

    It may be part of its own value, so it is made first. Only the ``type`` statement
    makes lazy aliases. The parameters replace the None that a statement without
    parameters has among its constants.
    """
    _reducers.require_identifier(name)
    source = f"def make(box):\n type {name} = box[0]({_FORMAT})\n return {name}"
    scope = {"__name__": module}
    exec(source, scope)
    make = scope["make"]
    # From 3.15 on the repr of an alias has the qualified name of its function.
    make.__code__ = _with_name(make.__code__, qualified_name)
    alias = make([None])
    if parameters:
        make.__code__ = _with_parameters(make.__code__, parameters)
        alias = make([None])
        if alias.__type_params__ != parameters:
            raise TypeError(f"this Python cannot make the alias {name!r}")
    return alias


def _with_name(code, qualified_name):
    constants = (
        k.replace(co_qualname=qualified_name) if type(k) is types.CodeType else k
        for k in code.co_consts
    )
    return code.replace(co_consts=tuple(constants))


def _with_parameters(code, parameters):
    constants = tuple(parameters if c is None else c for c in code.co_consts)
    instructions = bytearray(code.co_code)
    if None not in code.co_consts:
        # From 3.15 on None is a constant of the interpreter.
        from opcode import opmap

        for i in range(0, len(instructions), 2):
            if instructions[i] == opmap["LOAD_COMMON_CONSTANT"]:
                instructions[i : i + 2] = opmap["LOAD_CONST"], len(constants)
        constants += (parameters,)
    return code.replace(co_consts=constants, co_code=bytes(instructions))


# From 3.14 on such functions take a format; 1 is ``annotationlib.Format.VALUE``.
_FORMAT = "1" if sys.version_info >= (3, 14) else ""


def set_alias_evaluator(alias, evaluator):
    """Provides the function that evaluates an alias of `make_type_alias`."""
    function = _function_in(alias)
    function.evaluator = evaluator  # Sent in its place if the alias is sent on.
    function.__closure__[0].cell_contents[0] = evaluator
