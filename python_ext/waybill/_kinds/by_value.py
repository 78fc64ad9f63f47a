"""Globals of modules that travel by value, or of scripts, which no import finds by
their names."""

import _thread
import contextvars
import enum
import functools
import gc

from waybill._kinds import context_variables, marks


def take_global_apart(obj, name, is_there, by_value=()):
    """A reducer's answer for what said that it is found by name.

    `is_there`: whether a module of the sender has it; else it came with a payload.
    """
    cls = type(obj)
    if cls is contextvars.ContextVar:
        return context_variables.reduce_context_variable(obj, by_value)
    if issubclass(cls, enum.Enum):
        return getattr, (cls, obj._name_)
    return marks.take_apart(obj, name, is_there)


def _is_free_lock(obj):
    if type(obj) is _thread.LockType:
        return not obj.locked()
    return type(obj) is _thread.RLock and "count=0 " in repr(obj)


def fresh_global(obj):
    """A reducer's answer that makes a thread-local or lock anew; None for what is none.

    What threads have put there is theirs, and new threads begin with nothing. A lock
    that nobody holds is as good as one that the module would have made at the receiver.
    """
    cls = type(obj)
    if _is_free_lock(obj):
        return _thread.RLock if cls is _thread.RLock else _thread.allocate_lock, ()
    if not issubclass(cls, _thread._local):
        return None
    # What it was made with, which it keeps for each new thread: a tuple and a dict. Its
    # other dict is that of the threads.
    referents = gc.get_referents(obj)
    arguments = next((r for r in referents if type(r) is tuple), ())
    dicts = [r for r in referents if type(r) is dict]
    texts = [d for d in dicts if d and all(type(key) is str for key in d)]
    keywords = texts[0] if texts else {}
    if keywords:
        return functools.partial(cls, *arguments, **keywords), ()
    return cls, arguments
