"""Objects of scripts, and of modules by value, that say they are found by name.

They are compared by identity, as sentinels are: a receiver has each of them once, as
long as anything there refers to it, and sends it home as what it was.
"""

from __future__ import annotations

import builtins
import copyreg
import weakref
from typing import Any

from waybill._classes import parts as class_parts

#: The type of Python 3.15 and later.
_SENTINEL = getattr(builtins, "sentinel", None)
#: By module, name and text, those that traveled: nothing can refer to them weakly.
_sentinels: dict[tuple[str, str, str], Any] = {}


class _Reference(weakref.ref[Any]):
    __slots__ = ("key",)

    key: str


#: References to other marks that traveled: by class and key, and by address.
_marks: weakref.WeakKeyDictionary[type, dict[str, _Reference]]
_marks = weakref.WeakKeyDictionary()
_by_address: dict[int, _Reference] = {}


def take_apart(obj, name, is_there):
    """A reducer's answer for such an object.

    `is_there`: whether the module that it names has it under that name.
    """
    cls = type(obj)
    module = getattr(obj, "__module__", None)
    if cls is _SENTINEL:
        told = module, name, repr(obj)
        _demand(is_there or _sentinels.get(told) is obj)
        _sentinels[told] = obj
        return make_sentinel, told
    known = _by_address.get(id(obj))
    is_known = known is not None and known() is obj
    _demand(is_there or is_known)
    if not cls.__weakrefoffset__:
        raise TypeError(
            "nothing can refer to it weakly, so receivers cannot keep it one"
        )
    if _has_slots(cls):
        arguments, state = (cls, object, None), obj.__getstate__()
    else:
        # As pickle did before __reduce_ex__: C types have to be able to be made.
        _, arguments, *state = copyreg._reduce_ex(obj, 1)
        state = state[0] if state else None
    # What refers to more may lead back to itself, and has its state of this payload.
    if not _is_plain(state):
        return copyreg._reconstructor, arguments, state
    if not is_known:
        known = _refer(obj, f"{module}.{name} {arguments[2]!r} {state!r}")
        _marks_of(cls)[known.key] = known
    return make_mark, (known.key, state, *arguments)


def _demand(is_known):
    if not is_known:
        raise TypeError("names itself as a global that is not there")


def _has_slots(cls):
    """Whether instances have slots, which ``copyreg`` does not look into."""
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
    """The mark of this key, made if it is not here.

    The key tells its name and what it was when it was first sent.
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
    marks, own = _marks_of(cls), _refer(made, key)
    while True:
        known = marks.setdefault(key, own)
        found = known()
        if found is not None:
            return found
        if marks.get(key) is known:  # It died, and does not know yet.
            marks.pop(key, None)


def _marks_of(cls):
    return _marks.setdefault(cls, {})


def _refer(mark, key):
    """A reference that is forgotten when the mark goes."""
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
    """The one sentinel of this process that was made so."""
    made = _SENTINEL(name, repr=text)
    made.__module__ = module
    return _sentinels.setdefault((module, name, text), made)
