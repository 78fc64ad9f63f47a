"""Globals of modules that travel by value, which no import finds by their names."""

import contextvars
import copyreg
import enum

from waybill import _reducers
from waybill._kinds import context_variables


def take_global_apart(obj, name, by_value):
    """A reducer's answer for what said that it is found by name.

    Who says so is compared by identity, as sentinels are: what is made has an id.
    """
    cls = type(obj)
    if cls is contextvars.ContextVar:
        return context_variables.reduce_context_variable(obj, by_value)
    if issubclass(cls, enum.Enum):
        return getattr, (cls, obj._name_)
    # As pickle did before there was __reduce_ex__: C types have to be able to be made.
    _, arguments, *state = copyreg._reduce_ex(obj, 1)
    if not cls.__weakrefoffset__:
        raise TypeError("its module travels by value, and nothing can refer to it")
    return _reducers.make_global, (name, *arguments), *state
