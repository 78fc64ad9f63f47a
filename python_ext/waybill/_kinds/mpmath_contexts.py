"""Contexts of mpmath, and what they make, which no pickle can build again.

A context makes the classes of its numbers, which no import finds, and constants, whose
``__setstate__`` fails. A context that mpmath itself has is found there by name, others
are made anew with their settings; the rest is found in its context.

mpmath is never imported to send: a context shows that it is there.
Asked by ``_reducers`` and ``_classes/parts.py``. Tested by
tests/libraries/test_mpmath.py.
"""

import sys

#: What a program may set of a context.
_SETTINGS = "prec", "pretty", "trap_complex"

#: Under which names numbers, and their classes, have their context.
_CONTEXT = "context", "ctx"


def reduce_context(obj):
    mpmath = sys.modules["mpmath"]
    for name in ("mp", "iv", "fp"):
        if vars(mpmath).get(name) is obj:
            return getattr, (mpmath, name)
    settings = {name: getattr(obj, name) for name in _SETTINGS if hasattr(obj, name)}
    if type(obj).__name__ == "FPContext":
        del settings["prec"]  # That of floats: it cannot be set.
    # As slots are set, by setattr: they are properties.
    return type(obj), (), (None, settings)


def reduce_constant(obj):
    place = place_of(obj)
    if place is None:
        raise TypeError(f"{obj!r} is a constant that its context does not have")
    return place


def place_of(obj):
    """The reducer's answer that finds what a context made among its attributes; None
    for what is not there."""
    held = vars(obj) if isinstance(obj, type) else vars(type(obj))
    for key in _CONTEXT:
        context = held.get(key)
        for name, value in getattr(context, "__dict__", {}).items():
            if value is obj:
                return getattr, (context, name)
    return None
