"""Which classes were sent or received: each stays one, and comes home as itself.

A class that travels by value has an id: the hash of its content when it was first sent.
Nothing is kept alive here.
"""

from __future__ import annotations

import weakref


class Tracker:
    """Ids of objects, and objects of ids, for one interpreter.

    Two classes that are equal in all their content have one id; it means the one that
    was sent last. Each method is short enough to be one step under the interpreter's
    lock, but for ``claim``, whose step is ``dict.setdefault``.
    """

    def __init__(self) -> None:
        # With a reference, the id, and whether the program itself made the object.
        self._ids: dict[int, tuple[weakref.ref[object], bytes, bool]] = {}
        self._objects: dict[bytes, weakref.ref[object]] = {}
        self._open: dict[bytes, object] = {}

    def id_of(self, obj: object) -> bytes:
        """The id of an object; a new one by its content if it has none."""
        entry = self._ids.get(id(obj))
        if entry is not None and entry[0]() is obj:
            return entry[1]
        from waybill._core import content_hash

        found = content_hash(obj, True)
        self._remember(obj, found, True)
        return found

    def is_home(self, obj: object) -> bool:
        """Whether the program itself made the object; else it came with a payload."""
        entry = self._ids.get(id(obj))
        return entry is None or entry[0]() is not obj or entry[2]

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

    def claim(self, identity: bytes, obj: object) -> tuple[object, bool]:
        """The one object of this id, and whether that was there, and complete, before.

        If there is none it is ``obj`` from now on, and is incomplete until ``close``.
        """
        known = self._known(identity)
        if known is None:
            opened = self._open.setdefault(identity, obj)
            known = self._known(identity)
            if known is None:
                # By each thread that gets it: the first to end must find it noted.
                self._objects[identity] = self._reference(opened, identity)
                self._remember(opened, identity, False)
                return opened, False
            # Another thread has claimed and closed it between the two looks.
            if opened is obj:
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

    def _remember(self, obj: object, identity: bytes, is_home: bool) -> None:
        address = id(obj)

        def remove(reference: weakref.ref[object]) -> None:
            entry = self._ids.get(address)
            if entry is not None and entry[0] is reference:
                del self._ids[address]

        self._ids[address] = weakref.ref(obj, remove), identity, is_home

    def _reference(self, obj: object, identity: bytes) -> weakref.ref[object]:
        def remove(reference: weakref.ref[object]) -> None:
            if self._objects.get(identity) is reference:
                del self._objects[identity]

        return weakref.ref(obj, remove)
