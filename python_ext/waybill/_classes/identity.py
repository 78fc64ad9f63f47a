"""Ids of classes: a class that is sent back is the same class at its home process.

A class that travels by value has an id: the hash of its content when it was first sent.
This module holds classes by weak references; ``_state/baselines.py`` keeps received
classes alive.
"""

from __future__ import annotations

import gc
import os
from _weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: More than there are twins of one class.
_MOST_TWINS = 1 << 20


class Tracker:
    """Ids of objects, and objects of ids, for one interpreter.

    Two live classes never share an id: the second of those that are equal in all their
    content has the next one. Each method is short enough to be one step under the
    interpreter's lock, but for ``claim``, whose step is ``dict.setdefault``.
    """

    def __init__(self) -> None:
        # With a reference, the id, whether the program of this process made the object,
        # and how far the id is from its content. The extension looks into these dicts.
        self._ids: dict[int, tuple[ref[object], bytes, bool, int]] = {}
        self._objects: dict[bytes, ref[object]] = {}
        self._open: dict[bytes, object] = {}
        # Ids of classes by their source, by address, and classes by these ids. The
        # extension asks whether there are any.
        self._texts: dict[int, tuple[ref[object], bytes]] = {}
        self._by_text: dict[bytes, ref[object]] = {}
        #: Of a forked child: the classes that were there when it was forked.
        self._inherited: dict[int, ref[type]] = {}

    def id_of(self, obj: object) -> bytes:
        """The id of an object; a new one by its content if it has none."""
        entry = self._ids.get(id(obj))
        if entry is not None and entry[0]() is obj:
            return entry[1]
        from waybill._core import content_hash

        found, number = content_hash(obj, True, False), 0
        if isinstance(obj, type):
            number = self._number_of(obj)
            if self._is_of_another(_add(found, number), obj):
                gc.collect(1)  # Classes are in cycles; most twins are gone already.
            while self._is_of_another(_add(found, number), obj):
                number += 1
            found = _add(found, number)
            self._objects[found] = self._reference(obj, found)
        inherited = self._inherited.get(id(obj))
        is_home = inherited is None or inherited() is not obj
        self._remember(obj, found, is_home, number)
        return found

    def _is_of_another(self, identity: bytes, obj: object) -> bool:
        known = self._known(identity)
        return known is not None and known is not obj

    def _number_of(self, cls: type) -> int:
        """What sets the id of a class apart from its content: the classes that it is
        made from, where these are twins of others.

        Who has a class of this content must not take one with other bases for it.
        """
        from waybill._classes.parts import is_made_in_c
        from waybill._core import is_importable

        number = 0
        metaclass: Any = type(cls)
        for base in (*metaclass.__mro__, *cls.__mro__[1:]):
            if not is_importable(base) and not is_made_in_c(base):
                self.id_of(base)
                number += _MOST_TWINS * self._ids[id(base)][3]
        return number

    def text_id_of(self, cls: type, is_asked: bool) -> bytes | None:
        """The id that the source of a class gives, whichever Python made it: what it
        came with, or what its source was when that was first asked for. None if it has
        none."""
        entry = self._texts.get(id(cls))
        if entry is not None and entry[0]() is cls:
            return entry[1] if is_asked or not self.is_home(cls) else None
        if not is_asked or not self.is_home(cls):
            return None
        from waybill._core import source_hash

        found, number = source_hash(cls), self._ids[id(cls)][3]
        if found is None:
            return None  # It may have one the next time.
        text_id = _add(found, number)
        self.note_text_id(cls, text_id)
        return text_id

    def note_text_id(self, cls: object, text_id: bytes) -> None:
        """Notes the id that the source of a class gives, unless it has one."""
        address = id(cls)
        entry = self._texts.get(address)
        if entry is not None and entry[0]() is cls:
            return
        places = (self._texts, address), (self._by_text, text_id)
        reference = reference_from(cls, *places)
        self._texts[address] = reference, text_id
        self._by_text.setdefault(text_id, reference)

    def find_by_text(self, text_id: bytes) -> bytes | None:
        """The id of a class that has this id by its source; None if none has."""
        reference = self._by_text.get(text_id)
        cls = reference() if reference is not None else None
        entry = self._ids.get(id(cls))
        return entry[1] if entry is not None and entry[0]() is cls else None

    def sent(self, identity: bytes, obj: object) -> None:
        """Notes that an id that travels means this object."""
        if self._known(identity) is obj:
            return
        self._objects[identity] = self._reference(obj, identity)

    def find(self, identity: bytes) -> object | None:
        """What has this id and is complete.

        The extension looks into these dicts by itself (``known_class.cpp``).
        """
        known = self._known(identity)
        return known if identity not in self._open else None

    def has_id(self, obj: object) -> bool:
        """Whether an object travels, or came, by value under an id."""
        entry = self._ids.get(id(obj))
        return entry is not None and entry[0]() is obj

    def is_home(self, obj: object) -> bool:
        """Whether the program of this process made the object; else a payload did, or
        the process that this one was forked from."""
        entry = self._ids.get(id(obj))
        return entry is None or entry[0]() is not obj or entry[2]

    def is_as_first_sent(self, identity: bytes, obj: object) -> bool:
        """Whether the content of an object is still what its id was taken of."""
        from waybill._core import content_hash

        number = self._ids[id(obj)][3]
        return _add(content_hash(obj, True, False), number) == identity

    def leave_home(self) -> None:
        """In a forked child: what there is was made by another process."""
        from waybill._core import clear_caches

        clear_caches()  # They take a class at home for one that nothing changes.
        for address in list(self._ids):
            reference, identity, _, number = self._ids[address]
            self._ids[address] = reference, identity, False, number
        self._inherited = _all_classes()

    def claim(self, identity: bytes, obj: object) -> tuple[object, bool]:
        """The one object of this id, and whether that was there, and complete, before.

        If there is none it is ``obj`` from now on, and is incomplete until ``close``.
        """
        known = self._known(identity)
        if known is None:
            opened = self._open.setdefault(identity, obj)
            known = self._known(identity)
            if known is None:
                # By each thread that gets it: the first to end must find it noted. It
                # is no class of this process from the moment on at which it is found.
                self._remember(opened, identity, False, 0)
                self._objects[identity] = self._reference(opened, identity)
                return opened, False
            # Another thread has closed its own between the two looks; or it has
            # taken this one, and is still at it.
            if opened is obj and known is not obj:
                self._open.pop(identity, None)
        return known, identity not in self._open

    def close(self, identity: bytes, obj: object) -> None:
        """The object is complete."""
        self._open.pop(identity, None)
        if self._known(identity) is None:  # Another thread failed at it and forgot it.
            self._objects[identity] = self._reference(obj, identity)

    def forget(self, identity: bytes) -> None:
        """The object will never be complete."""
        if self._open.pop(identity, None) is not None:
            self._objects.pop(identity, None)

    def _known(self, identity: bytes) -> object | None:
        reference = self._objects.get(identity)
        return reference() if reference is not None else None

    def _remember(
        self, obj: object, identity: bytes, is_home: bool, number: int
    ) -> None:
        address = id(obj)
        reference = reference_from(obj, (self._ids, address))
        self._ids[address] = reference, identity, is_home, number

    def _reference(self, obj: object, identity: bytes) -> ref[object]:
        return reference_from(obj, (self._objects, identity))


def reference_from(obj: object, *places: tuple[dict[Any, Any], Any]) -> ref[Any]:
    """A weak reference to be put into dicts, under these keys: by itself, or first in a
    tuple. Its entries go with the object."""

    def remove(reference: ref[Any]) -> None:
        for table, key in places:
            entry = table.get(key)
            if (entry[0] if type(entry) is tuple else entry) is reference:
                del table[key]

    return ref(obj, remove)


def _all_classes() -> dict[int, ref[type]]:
    """All there are, by address. Takes some milliseconds for thousands."""
    found: dict[int, ref[type]] = {}
    left: list[type] = [object]
    while left:
        derived: list[type] = type.__subclasses__(left.pop())
        for cls in derived:
            if id(cls) not in found:
                found[id(cls)] = ref(cls)
                left.append(cls)
    return found


def _add(identity: bytes, number: int) -> bytes:
    total = int.from_bytes(identity, "big") + number
    return (total % (1 << 8 * len(identity))).to_bytes(len(identity), "big")


#: That of this interpreter.
TRACKER = Tracker()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TRACKER.leave_home)
