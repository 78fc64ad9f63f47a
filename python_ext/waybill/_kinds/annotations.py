"""typing: new types and aliases; see ``_reducers.py``."""

import copyreg
import gc
import sys
import types
import typing

from waybill import _reducers


def reduce_new_type(obj):
    return copyreg.__newobj__, (typing.NewType,), dict(vars(obj))


def reduce_type_alias(obj):
    if _is_eager(obj):
        options = {"type_params": obj.__type_params__}
        return make_evaluated_alias, (obj.__name__, obj.__value__, options)
    creation = make_type_alias, (obj.__name__, obj.__module__, obj.__type_params__)
    return *creation, _evaluator_of(obj), None, None, set_alias_evaluator


def _is_eager(alias):
    """Whether it was made by a call of TypeAliasType."""
    return not any(type(r) is types.FunctionType for r in gc.get_referents(alias))


def _evaluator_of(alias):
    function = next(r for r in gc.get_referents(alias) if type(r) is types.FunctionType)
    return vars(function).get("evaluator", function)


def make_evaluated_alias(name, value, options):
    """An alias whose value is known (3.12)."""
    return typing.TypeAliasType(name, value, **options)


def make_type_alias(name, module, parameters):
    """An alias that set_alias_evaluator tells how to get its value (3.12).

    It may be part of its own value, so it comes first. Only the statement makes lazy
    aliases. Its parameters are those of the statement, which has none, and None among
    the constants in their place.
    """
    _reducers._demand_name(name)
    source = f"def make(box):\n type {name} = box[0]({_FORMAT})\n return {name}"
    scope = {"__name__": module}
    exec(source, scope)
    make = scope["make"]
    alias = make([None])
    if parameters:
        make.__code__ = _with_parameters(make.__code__, parameters)
        alias = make([None])
        if alias.__type_params__ != parameters:
            raise TypeError(f"this Python cannot make the alias {name!r}")
    return alias


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


# From 3.14 on such functions are told a format; 1 is that of values.
_FORMAT = "1" if sys.version_info >= (3, 14) else ""


def set_alias_evaluator(alias, evaluator):
    """Tells an alias of make_type_alias how to get its value."""
    function = next(r for r in gc.get_referents(alias) if type(r) is types.FunctionType)
    function.evaluator = evaluator  # What is sent when the alias is sent on.
    function.__closure__[0].cell_contents[0] = evaluator
