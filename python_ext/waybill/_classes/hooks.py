"""Makes classes without calling hooks of their bases.

An ``__init_subclass__``, or a metaclass in Python, ran at the sender. Its effects are
attributes of the class, which the payload has.
Tested by tests/python/classes/test_class_hooks.py.
"""

from __future__ import annotations

import types

from waybill._classes.identity import TRACKER
from waybill._classes.parts import OFFSETS, adds_attribute

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
    """``types.new_class``, with hooks of imported bases if ``is_hooked``, else none."""
    hooked = _hooked_base(bases)
    if hooked is None:
        return types.new_class(name, bases, keywords, body)
    if is_hooked:
        try:
            if TRACKER.has_id(hooked):
                return _make_shielded(name, bases, keywords, body, _SHIELDS_BY_VALUE)
            return types.new_class(name, bases, dict(keywords), body)
        except (MemoryError, RecursionError):
            raise
        except Exception:
            pass  # The hook needs attributes that are set later.
    return _make_shielded(name, bases, keywords, body, _SHIELDS)


def plain_method(metaclass: Any, name: str) -> Any:
    """The first method of this name in C: those in Python ran at the sender."""
    for base in metaclass.__mro__:
        found = vars(base).get(name)
        if found is not None and not isinstance(found, types.FunctionType):
            return found
    return getattr(type, name)


def _skip_hooks_by_value(cls: Any, /, **keywords: object) -> None:
    """Calls the __init_subclass__ of the first imported base. The effects of the others
    are attributes of the class."""
    for base in cls.__mro__[2:]:
        hook = vars(base).get("__init_subclass__")
        if hook is not None and not TRACKER.has_id(base):
            hook.__get__(None, cls)(**keywords)
            return


def _shields_with(hook: Callable[..., None]) -> tuple[type, type]:
    """Two classes to put before the bases, so that ``hook`` runs in place of theirs.
    The second adds no fields to instances."""
    scope = {"__init_subclass__": classmethod(hook)}
    return type("_Shield", (), scope), type("_Shield", (), {"__slots__": (), **scope})


#: Shields that run no hook, and shields that run only the hook of an imported base.
_SHIELDS = _shields_with(lambda cls, /, **keywords: None)
_SHIELDS_BY_VALUE = _shields_with(_skip_hooks_by_value)


def _hooked_base(bases: tuple[Any, ...]) -> Any:
    """The first class with an __init_subclass__ for these bases, or None."""
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
    for shield in _fitting_shields(shields, own[0]):
        try:
            made = types.new_class(name, (shield, *bases), dict(keywords), body)
            set_plainly = plain_method(type(made), "__setattr__")
            set_plainly(made, "__bases__", own)
        except TypeError:  # The layouts of shield and bases conflict.
            continue
        if _has_room_of_shield(made, own):
            continue
        if own is not bases:
            set_plainly(made, "__orig_bases__", bases)
        return made
    return types.new_class(name, bases, keywords, body)


def _has_room_of_shield(made: Any, bases: tuple[Any, ...]) -> bool:
    """Whether a shield gave instances a dict, or weak references, that no class
    declares."""
    slots = vars(made).get("__slots__")
    if slots is None:
        return False
    own = (slots,) if isinstance(slots, str) else tuple(slots)
    return any(
        name not in own and adds_attribute(made, name, bases) for name in OFFSETS
    )


def _fitting_shields(shields: tuple[type, type], base: Any) -> Iterator[Any]:
    """The shields, then one with the layout of a base.

    To replace a shield by the base, CPython demands that both add the same slots to the
    same class, which for most generic classes is Generic or Protocol.
    """
    yield from shields
    while _layout(base) != _layout(object):
        base = base.__base__
    # The hooks of typing read the bases of the class statement.
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
        except TypeError:  # The base is a static type.
            return
    try:
        yield made
    finally:  # The shield leaves the subclasses of the base.
        try:
            _set_bases(made, (_SHIELDS[1],))
        except TypeError:  # On 3.15 it stays there until it is collected.
            pass


def _layout(cls: type) -> tuple[int, int, int]:
    return cls.__basicsize__, cls.__dictoffset__, cls.__weakrefoffset__


_set_bases = vars(type)["__bases__"].__set__
