"""Marks: objects of scripts or of modules by value whose ``__reduce__`` returns a name.

They are compared by identity, like sentinels. A receiver has one object for each mark
as long as anything refers to it, and sends that object home as the original.
"""

from __future__ import annotations

import builtins
import copyreg
import weakref
from typing import Any

from waybill._classes import parts as class_parts

#: The builtin type of sentinels, from Python 3.15 on.
_SENTINEL = getattr(builtins, "sentinel", None)
#: Sent or received sentinels, by module, name and text: they allow no weak references.
_sentinels: dict[tuple[str, str, str], Any] = {}


class _Reference(weakref.ref[Any]):
    __slots__ = ("key",)

    key: str


#: References to other sent or received marks: by class and key, and by address.
_marks: weakref.WeakKeyDictionary[type, dict[str, _Reference]]
_marks = weakref.WeakKeyDictionary()
_by_address: dict[int, _Reference] = {}


def reduce_mark(obj, name, is_there):
    """The result of a reducer for a mark.

    `is_there`: whether the module of the mark has it under `name`.
    """
    cls = type(obj)
    module = getattr(obj, "__module__", None)
    if cls is _SENTINEL:
        key = module, name, repr(obj)
        _check_found(is_there or _sentinels.get(key) is obj)
        _sentinels[key] = obj
        return make_sentinel, key
    entry = _by_address.get(id(obj))
    is_registered = entry is not None and entry() is obj
    _check_found(is_there or is_registered)
    if not cls.__weakrefoffset__:
        raise TypeError(
            "it cannot be weakly referenced, so a receiver could not keep it unique"
        )
    if _has_slots(cls):
        arguments, state = (cls, object, None), obj.__getstate__()
    else:
        # As pickle did before __reduce_ex__: it rejects C types that it cannot make.
        _, arguments, *state = copyreg._reduce_ex(obj, 1)
        state = state[0] if state else None
    # A state with other objects may refer to the mark, and belongs to this payload.
    if not _is_plain(state):
        return copyreg._reconstructor, arguments, state
    if not is_registered:
        entry = _register(obj, f"{module}.{name} {arguments[2]!r} {state!r}")
        _marks_of(cls)[entry.key] = entry
    return make_mark, (entry.key, state, *arguments)


def _check_found(is_found):
    if not is_found:
        raise TypeError("its __reduce__ returns a name that its module does not have")


def _has_slots(cls):
    """Whether instances have slots, which ``copyreg`` does not read."""
    return (
        bool(getattr(cls, "__slots__", None))
        and cls.__getstate__ is object.__getstate__
        and not any(map(class_parts.is_made_in_c, cls.__mro__[:-1]))
    )


def _is_plain(state):
    if type(state) is dict:
        return all(map(_is_plain, state.values()))
    if type(state) is tuple:
        return all(map(_is_plain, state))
    return type(state) in class_parts.LEAVES


def make_mark(key, state, cls, base, content):
    """The mark with this key, made if it does not exist here.

    The key holds its name and its first sent state.
    """
    made = copyreg._reconstructor(cls, base, content)
    if state is not None and hasattr(cls, "__setstate__"):
        made.__setstate__(state)
    elif state is not None:
        attributes, slots = state if type(state) is tuple else (state, {})
        if attributes:
            made.__dict__.update(attributes)
        for slot, value in slots.items():
            object.__setattr__(made, slot, value)
    marks, own = _marks_of(cls), _register(made, key)
    while True:
        entry = marks.setdefault(key, own)
        found = entry()
        if found is not None:
            return found
        if marks.get(key) is entry:  # The object died; the callback has not run yet.
            marks.pop(key, None)


def _marks_of(cls):
    return _marks.setdefault(cls, {})


def _register(mark, key):
    """A weak reference to a mark, entered by address; it is removed with the mark."""
    address, marks, by_address = id(mark), _marks_of(type(mark)), _by_address

    def remove(reference):
        if marks.get(key) is reference:
            marks.pop(key, None)
        if by_address.get(address) is reference:
            by_address.pop(address, None)

    reference = _Reference(mark, remove)
    reference.key = key
    by_address[address] = reference
    return reference


def make_sentinel(module, name, text):
    """The sentinel of this process with this module, name and text."""
    made = _SENTINEL(name, repr=text)
    made.__module__ = module
    return _sentinels.setdefault((module, name, text), made)
