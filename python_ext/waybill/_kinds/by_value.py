"""Reducers of globals of scripts and of modules by value: none can be imported."""

import _thread
import contextvars
import enum
import functools
import gc

from waybill._kinds import context_variables, marks


def reduce_global(obj, name, is_there, by_value=()):
    """The result of a reducer for an object whose ``__reduce__`` returned a name.

    `is_there`: whether a module of the sender has it; otherwise a payload defined it.
    """
    cls = type(obj)
    if cls is contextvars.ContextVar:
        return context_variables.reduce_context_variable(obj, by_value)
    if issubclass(cls, enum.Enum):
        return getattr, (cls, obj._name_)
    return marks.reduce_mark(obj, name, is_there)


def _is_free_lock(obj):
    if type(obj) is _thread.LockType:
        return not obj.locked()
    return type(obj) is _thread.RLock and "count=0 " in repr(obj)


def reduce_to_fresh(obj):
    """The result of a reducer that makes a new thread-local or lock; None for any other
    object and for a locked lock.

    A thread-local travels without its values: each thread has its own, and a new thread
    has none. An unlocked lock is as good as a new one.
    """
    cls = type(obj)
    if _is_free_lock(obj):
        return _thread.RLock if cls is _thread.RLock else _thread.allocate_lock, ()
    if not issubclass(cls, _thread._local):
        return None
    # The arguments of the constructor, which each new thread needs: a tuple and a dict.
    # The other dict holds the threads.
    referents = gc.get_referents(obj)
    arguments = next((r for r in referents if type(r) is tuple), ())
    dicts = [r for r in referents if type(r) is dict]
    keyword_dicts = [d for d in dicts if d and all(type(key) is str for key in d)]
    keywords = keyword_dicts[0] if keyword_dicts else {}
    if keywords:
        return functools.partial(cls, *arguments, **keywords), ()
    return cls, arguments
