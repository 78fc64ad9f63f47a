"""Reducers of views, iterators of itertools, weak references; see ``_reducers``."""

import gc
import itertools
import operator
import types
import weakref
from _collections import OrderedDict


def reduce_view(obj):
    mapping = gc.get_referents(obj)[0]
    kind = {"k": dict.keys, "v": dict.values, "i": dict.items}
    return kind[type(obj).__name__[len("dict_")]], (mapping,)


def reduce_ordered_view(obj):
    mapping = gc.get_referents(obj)[0]
    return getattr(OrderedDict, type(obj).__name__[len("odict_") :]), (mapping,)


def reduce_reversed_deque(obj):
    # From 3.12 on no module has its type.
    return make_reversed_deque, obj.__reduce__()[1]


def make_reversed_deque(deque, position=0):
    """A reversed() deque from which ``position`` elements were taken."""
    iterator = reversed(deque)
    for _ in range(position):
        next(iterator)
    return iterator


# ---- itertools, which cannot be pickled from 3.14 on


def reduce_count(obj):
    # Small numbers are stored in C, large ones and steps as objects.
    numbers = [r for r in gc.get_referents(obj) if r is not type(obj)]
    if len(numbers) == 2:
        return itertools.count, tuple(numbers)
    return itertools.count, (int(repr(obj)[len("count(") : -1]),)


def reduce_repeat(obj):
    element = next(r for r in gc.get_referents(obj) if r is not type(obj))
    try:
        remaining = (operator.length_hint(obj),)
        obj.__length_hint__()
    except TypeError:
        remaining = ()
    return itertools.repeat, (element, *remaining)


# ---- Weak references: the target travels, and lives on if the receiver refers to it


def reduce_weak_reference(obj):
    target = obj()
    if target is None:
        return make_dead_reference, (False,)
    callback = obj.__callback__
    return weakref.ref, (target,) if callback is None else (target, callback)


def reduce_weak_method(obj):
    method = obj()
    if method is None:
        return make_dead_reference, (True,)
    own = obj.__callback__  # WeakMethod's function, around the callback of the user.
    cells = dict(zip(own.__code__.co_freevars, own.__closure__, strict=True))
    callback = cells["callback"].cell_contents if "callback" in cells else None
    return weakref.WeakMethod, (method,) if callback is None else (method, callback)


def make_dead_reference(is_method):
    """A weak reference whose target is dead."""

    class Gone:
        def method(self):
            pass

    return weakref.WeakMethod(Gone().method) if is_method else weakref.ref(Gone())


def reduce_weak_set(obj):
    # Items travel as a set, because the encoder sorts sets: in a list, their order
    # would depend on addresses.
    return weakref.WeakSet, (), set(obj), None, None, weakref.WeakSet.update


def reduce_weak_key_dictionary(obj):
    items = list(obj.items())
    if items and _is_dispatch_cache(obj, items):
        items = []
    return weakref.WeakKeyDictionary, (), None, None, iter(items)


def reduce_weak_value_dictionary(obj):
    return weakref.WeakValueDictionary, (), None, None, iter(list(obj.items()))


def _is_dispatch_cache(obj, items):
    """Whether it is the cache of a functools.singledispatch function."""
    if not all(isinstance(key, type) and callable(value) for key, value in items):
        return False
    for cell in gc.get_referrers(obj):
        if type(cell) is not types.CellType:
            continue
        for closure in gc.get_referrers(cell):
            for function in gc.get_referrers(closure):
                name = getattr(function, "__qualname__", None)
                if name == "singledispatch.<locals>.dispatch":
                    return True
    return False
