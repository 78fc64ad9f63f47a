"""Makes classes in whose making the code of their bases has no say.

What an ``__init_subclass__`` or a metaclass in Python did at the sender travels as
attributes. Tested by tests/python/classes/test_class_hooks.py.
"""

from __future__ import annotations

import types

from waybill._classes.identity import TRACKER
from waybill._classes.parts import PLACES, adds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


def make_by_hooks(
    name: str,
    bases: tuple[Any, ...],
    keywords: dict[str, Any],
    body: Callable[[Any], None],
    is_hooked: bool,
) -> Any:
    """A new class, as types.new_class makes it. ``is_hooked``: hooks of bases that did
    not come by value are called; else none is."""
    hooked = _hooked_base(bases)
    if hooked is None:
        return types.new_class(name, bases, keywords, body)
    if is_hooked:
        try:
            if TRACKER.has_id(hooked):
                return _make_shielded(name, bases, keywords, body, _SIEVES)
            return types.new_class(name, bases, dict(keywords), body)
        except (MemoryError, RecursionError):
            raise
        except Exception:
            pass  # The hook looks for attributes, which are set later.
    return _make_shielded(name, bases, keywords, body, _SHIELDS)


def plain_method(metaclass: Any, name: str) -> Any:
    """How a metaclass sets or deletes attributes, but for what is written in Python:
    that ran at the sender."""
    for base in metaclass.__mro__:
        found = vars(base).get(name)
        if found is not None and not isinstance(found, types.FunctionType):
            return found
    return getattr(type, name)


def _pass_no_hook(cls: Any, /, **keywords: object) -> None:
    pass


def _pass_hooks_by_value(cls: Any, /, **keywords: object) -> None:
    """Calls the __init_subclass__ of the first base that did not come by value: what
    the others did travels as attributes."""
    for base in cls.__mro__[2:]:
        hook = vars(base).get("__init_subclass__")
        if hook is not None and not TRACKER.has_id(base):
            hook.__get__(None, cls)(**keywords)
            return


def _shields_with(hook: Callable[..., None]) -> tuple[type, type]:
    """Classes to be put in front of bases, whose hook runs in the place of theirs; the
    second gives instances no room."""
    scope = {"__init_subclass__": classmethod(hook)}
    return type("_Shield", (), scope), type("_Shield", (), {"__slots__": (), **scope})


#: In front of bases whose __init_subclass__ must not run; of those that came by value.
_SHIELDS = _shields_with(_pass_no_hook)
_SIEVES = _shields_with(_pass_hooks_by_value)


def _hooked_base(bases: tuple[Any, ...]) -> Any:
    """The first class with an __init_subclass__ for these bases; None if none has."""
    for base in types.resolve_bases(bases):
        for cls in base.__mro__[:-1]:
            if "__init_subclass__" in vars(cls):
                return cls
    return None


def _make_shielded(
    name: str,
    bases: tuple[Any, ...],
    keywords: dict[str, Any],
    body: Callable[[Any], None],
    shields: tuple[type, type],
) -> Any:
    own = types.resolve_bases(bases)
    for shield in _fitting(shields, own[0]):
        try:
            made = types.new_class(name, (shield, *bases), dict(keywords), body)
            set_plainly = plain_method(type(made), "__setattr__")
            set_plainly(made, "__bases__", own)
        except TypeError:  # The layouts of shield and bases do not go together.
            continue
        if _has_room_of_shield(made, own):
            continue
        if own is not bases:
            set_plainly(made, "__orig_bases__", bases)
        return made
    return types.new_class(name, bases, keywords, body)


def _has_room_of_shield(made: Any, bases: tuple[Any, ...]) -> bool:
    """Whether instances have a dict, or weak references, that neither a base nor the
    class itself asks for."""
    slots = vars(made).get("__slots__")
    if slots is None:
        return False
    asked = (slots,) if isinstance(slots, str) else tuple(slots)
    return any(place not in asked and adds(made, place, bases) for place in PLACES)


def _fitting(shields: tuple[type, type], base: Any) -> Iterator[Any]:
    """The shields, then one with the layout of a base.

    CPython demands that both add the same slots to one and the same class, which for
    most generic classes is Generic or Protocol.
    """
    yield from shields
    while _layout(base) != _layout(object):
        base = base.__base__
    # The hooks of typing want to know what stands in the statement of a class.
    scope = {
        "__init_subclass__": vars(shields[1])["__init_subclass__"],
        "__orig_bases__": (),
    }
    hooked = _hooked_base((base,))
    if hooked is None or hooked.__module__ == "typing":
        made = type.__new__(type(base), "_Shield", (base,), scope)
    else:
        made = type.__new__(type(base), "_Shield", (_SHIELDS[1], base), scope)
        try:
            _set_bases(made, (base,))
        except TypeError:  # The base is made in C, and not as a class is.
            return
    try:
        yield made
    finally:  # The base does not list it as a subclass any longer.
        try:
            _set_bases(made, (_SHIELDS[1],))
        except TypeError:  # On 3.15 it lists it until it is collected.
            pass


def _layout(cls: type) -> tuple[int, int, int]:
    return cls.__basicsize__, cls.__dictoffset__, cls.__weakrefoffset__


_set_bases = vars(type)["__bases__"].__set__
