"""Objects of scripts, and of modules by value, that say they are found by name.

They are compared by identity, as sentinels are: a receiver has each of them once, as long
as anything there refers to it.
"""

from __future__ import annotations

import builtins
import copyreg
import weakref
from typing import Any

from waybill import _class_parts


def take_apart(obj, name):
    """A reducer's answer for such an object."""
    cls = type(obj)
    module = getattr(obj, "__module__", None)
    if cls is _SENTINEL:
        told = module, name, repr(obj)
        _sentinels[told] = obj
        return make_sentinel, told
    if not cls.__weakrefoffset__:
        raise TypeError(
            "nothing can refer to it weakly, so receivers cannot keep it one"
        )
    if _has_slots(cls):
        arguments, state = (cls, object, None), obj.__getstate__()
    else:
        # As pickle did before there was __reduce_ex__: C types have to be able to be made.
        _, arguments, *state = copyreg._reduce_ex(obj, 1)
        state = state[0] if state else None
    # What refers to more may lead back to itself, and has its state of this payload.
    if not _is_plain(state):
        return copyreg._reconstructor, arguments, state
    marks, key = _marks_of(cls), _key_of(module, name, arguments, state)
    marks[key] = _reference(obj, marks, key)
    return make_mark, (module, name, state, *arguments)


def _has_slots(cls):
    """Whether instances have slots, which ``copyreg`` does not look into."""
    return (
        bool(getattr(cls, "__slots__", None))
        and cls.__getstate__ is object.__getstate__
        and not any(map(_class_parts.is_made_in_c, cls.__mro__[:-1]))
    )


def _is_plain(state):
    if type(state) is dict:
        return all(map(_is_plain, state.values()))
    if type(state) is tuple:
        return all(map(_is_plain, state))
    return type(state) in _PLAIN


_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})

#: References to what programs and payloads had under a name, by class, then by that name
#: and the state.
_marks: weakref.WeakKeyDictionary[type, dict[Any, Any]] = weakref.WeakKeyDictionary()


def make_mark(module, name, state, cls, base, content):
    """What the sender had under a name, made unless it is here."""
    made = copyreg._reconstructor(cls, base, content)
    if state is not None and hasattr(cls, "__setstate__"):
        made.__setstate__(state)
    elif state is not None:
        attributes, slots = state if type(state) is tuple else (state, {})
        if attributes:
            made.__dict__.update(attributes)
        for slot, value in slots.items():
            object.__setattr__(made, slot, value)
    marks, key = _marks_of(cls), _key_of(module, name, (cls, base, content), state)
    own = _reference(made, marks, key)
    while True:
        known = marks.setdefault(key, own)
        found = known()
        if found is not None:
            return found
        if marks.get(key) is known:  # It died, and does not know yet.
            marks.pop(key, None)


def _marks_of(cls):
    return _marks.setdefault(cls, {})


def _key_of(module, name, arguments, state):
    return module, name, repr((arguments[2], state))


def _reference(mark, marks, key):
    """A reference that leaves the dict when the mark goes."""

    def remove(reference):
        if marks.get(key) is reference:
            marks.pop(key, None)

    return weakref.ref(mark, remove)


#: The type of Python 3.15 and later.
_SENTINEL = getattr(builtins, "sentinel", None)
#: By module, name and text, those that traveled: nothing can refer to them weakly.
_sentinels: dict[tuple[str, str, str], Any] = {}


def make_sentinel(module, name, text):
    """The one sentinel of this process that was made so."""
    made = _SENTINEL(name, repr=text)
    made.__module__ = module
    return _sentinels.setdefault((module, name, text), made)
