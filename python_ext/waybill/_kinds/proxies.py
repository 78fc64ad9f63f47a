"""Objects that tell another class than their own; see ``_reducers.py``."""

import copyreg


def reduce_by_type(obj):
    """What ``object.__reduce_ex__`` answers where ``__class__`` is the type."""
    cls = type(obj)
    own = cls.__reduce_ex__, cls.__reduce__
    if own != (object.__reduce_ex__, object.__reduce__):
        return obj.__reduce_ex__(5)
    items = iter(obj) if issubclass(cls, list) else None
    pairs = iter(cls.items(obj)) if issubclass(cls, dict) else None
    made, arguments = _creation(cls, obj)
    if len(arguments) == 1 and items is None and pairs is None:
        _demand_plain_layout(cls)
    return made, arguments, cls.__getstate__(obj), items, pairs


def _creation(cls, obj):
    if hasattr(cls, "__getnewargs_ex__"):
        arguments, keywords = cls.__getnewargs_ex__(obj)
        return copyreg.__newobj_ex__, (cls, arguments, keywords)
    arguments = cls.__getnewargs__(obj) if hasattr(cls, "__getnewargs__") else ()
    return copyreg.__newobj__, (cls, *arguments)


def _demand_plain_layout(cls):
    """Raises TypeError for what has more than a dict and slots, and does not say it."""
    if cls.__getstate__ is not object.__getstate__:
        return
    pointer = tuple.__itemsize__
    fields = [cls.__dictoffset__ > 0, cls.__weakrefoffset__ > 0]
    size = object.__basicsize__ + pointer * (sum(fields) + len(copyreg._slotnames(cls)))
    if cls.__basicsize__ > size:
        raise TypeError(f"cannot pickle {cls.__name__!r} object")
