"""Reducers of mpmath contexts and of the classes and constants that they make.

A context makes its classes of numbers, which cannot be imported, and constants, whose
``__setstate__`` fails. mpmath's own contexts are sent by name, others are made again
with their settings; classes and constants are sent as attributes of their context.

Sending never imports mpmath: an instance exists only if it is imported. Used by
``_reducers`` and ``_classes/parts.py``. Tested by
tests/libraries/test_mpmath.py.
"""

import sys

#: The settings of a context.
_SETTINGS = "prec", "pretty", "trap_complex"

#: Attributes in which numbers, and their classes, have their context.
_CONTEXT = "context", "ctx"


def reduce_context(obj):
    mpmath = sys.modules["mpmath"]
    for name in ("mp", "iv", "fp"):
        if vars(mpmath).get(name) is obj:
            return getattr, (mpmath, name)
    settings = {name: getattr(obj, name) for name in _SETTINGS if hasattr(obj, name)}
    if type(obj).__name__ == "FPContext":
        del settings["prec"]  # The precision of floats cannot be set.
    # Sent as slots, so that setattr sets them: they are properties.
    return type(obj), (), (None, settings)


def reduce_constant(obj):
    place = place_of(obj)
    if place is None:
        raise TypeError(f"{obj!r} is not an attribute of its context; define it there")
    return place


def place_of(obj):
    """The result of a reducer for an attribute of the context that made it, or None."""
    held = vars(obj) if isinstance(obj, type) else vars(type(obj))
    for key in _CONTEXT:
        context = held.get(key)
        for name, value in getattr(context, "__dict__", {}).items():
            if value is obj:
                return getattr, (context, name)
    return None
