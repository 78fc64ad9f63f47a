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
    from typing import Any, TypeVar

    _Entry = TypeVar("_Entry", bound=tuple[Any, ...])

#: More than the number of equal classes in any process.
_MAX_TWINS = 1 << 20


class Tracker:
    """Ids of objects, and objects by id, for one interpreter.

    Two live classes never share an id: the second of two equal ones gets the next free
    id. Each method is atomic under the interpreter's lock, except ``id_of`` and
    ``claim``, in which ``dict.setdefault`` decides.
    """

    def __init__(self) -> None:
        # By address: a reference, the id, whether this process made the object, the
        # distance of the id from the content hash. The extension reads these dicts.
        self._ids: dict[int, tuple[ref[object], bytes, bool, int]] = {}
        self._objects: dict[bytes, ref[object]] = {}
        self._open: dict[bytes, object] = {}
        # Source ids of classes, by address, and classes by source id. The extension
        # checks whether there are any.
        self._source_ids: dict[int, tuple[ref[object], bytes]] = {}
        self._by_source_id: dict[bytes, ref[object]] = {}
        #: In a forked child: the classes of the parent.
        self._inherited: dict[int, ref[type]] = {}

    def id_of(self, obj: object) -> bytes:
        """The id of an object; if it has none, it gets one from its content."""
        entry = find_entry(self._ids, obj)
        if entry is not None:
            return entry[1]
        from waybill._core import content_hash

        found, number = content_hash(obj, True, False), 0
        if isinstance(obj, type):
            found, number = self._reserve(obj, found, self._distance_of(obj))
        inherited = self._inherited.get(id(obj))
        is_home = inherited is None or inherited() is not obj
        self._remember(obj, found, is_home, number)
        return found

    def _reserve(self, cls: type, content: bytes, number: int) -> tuple[bytes, int]:
        """The next free id of a class, from a distance from its content hash on, and
        the distance of this id. No other thread can get the id."""
        if self._is_id_of_another(_add(content, number), cls):
            gc.collect(1)  # Classes are in cycles: most equal ones are garbage.
        while True:
            found = _add(content, number)
            if not self._is_id_of_another(found, cls):
                own = self._reference(cls, found)
                if self._objects.setdefault(found, own)() is cls:
                    return found, number
            number += 1

    def _is_id_of_another(self, identity: bytes, obj: object) -> bool:
        found = self._live_object(identity)
        return found is not None and found is not obj

    def _distance_of(self, cls: type) -> int:
        """How far the id of a class is from its content hash: the sum of the distances
        of its bases.

        Classes of equal content and different bases must not share an id.
        """
        from waybill._classes.parts import is_made_in_c
        from waybill._core import is_importable

        number = 0
        metaclass: Any = type(cls)
        for base in (*metaclass.__mro__, *cls.__mro__[1:]):
            if not is_importable(base) and not is_made_in_c(base):
                self.id_of(base)
                number += _MAX_TWINS * self._ids[id(base)][3]
        return number

    def source_id_of(self, cls: type, is_source_sent: bool) -> bytes | None:
        """The source id of a class, equal in all versions of Python: the received one,
        or a hash of the source at the first call. None if it has no source."""
        entry = find_entry(self._source_ids, cls)
        if entry is not None:
            return entry[1] if is_source_sent or not self.is_home(cls) else None
        if not is_source_sent or not self.is_home(cls):
            return None
        from waybill._core import source_hash

        found, number = source_hash(cls), self._ids[id(cls)][3]
        if found is None:
            return None  # A later call may find the source.
        source_id = _add(found, number)
        self.set_source_id(cls, source_id)
        return source_id

    def set_source_id(self, cls: object, source_id: bytes) -> None:
        """Sets the source id of a class, unless it has one."""
        if find_entry(self._source_ids, cls) is not None:
            return
        address = id(cls)
        places = (self._source_ids, address), (self._by_source_id, source_id)
        reference = reference_from(cls, *places)
        self._source_ids[address] = reference, source_id
        self._by_source_id.setdefault(source_id, reference)

    def find_by_source_id(self, source_id: bytes) -> bytes | None:
        """The id of the class with this source id; None if there is none."""
        reference = self._by_source_id.get(source_id)
        cls = reference() if reference is not None else None
        entry = find_entry(self._ids, cls)
        return entry[1] if entry is not None else None

    def record_sent(self, identity: bytes, obj: object) -> None:
        """Records that the id in a payload means this object."""
        if self._live_object(identity) is obj:
            return
        self._objects[identity] = self._reference(obj, identity)

    def find(self, identity: bytes) -> object | None:
        """The complete object with this id; None if there is none.

        The extension reads the dicts by itself (``src/python/cache``).
        """
        found = self._live_object(identity)
        return found if identity not in self._open else None

    def has_id(self, obj: object) -> bool:
        """Whether an object was sent or received by value, under an id."""
        return find_entry(self._ids, obj) is not None

    def is_home(self, obj: object) -> bool:
        """Whether the program of this process made the object, not a payload and not
        the process that this one was forked from."""
        entry = find_entry(self._ids, obj)
        return entry is None or entry[2]

    def is_as_first_sent(self, identity: bytes, obj: object) -> bool:
        """Whether the content of an object is still that of its id."""
        from waybill._core import content_hash

        number = self._ids[id(obj)][3]
        return _add(content_hash(obj, True, False), number) == identity

    def leave_home(self) -> None:
        """In a forked child: marks all classes as made by another process."""
        from waybill._core import clear_caches

        clear_caches()  # Caches assume that ids of classes do not change.
        for address in list(self._ids):
            reference, identity, _, number = self._ids[address]
            self._ids[address] = reference, identity, False, number
        self._inherited = _all_classes()

    def claim(self, identity: bytes, obj: object) -> tuple[object, bool]:
        """The object with this id, and whether it existed and is complete.

        If there is none, ``obj`` gets the id, and is incomplete until ``close``.
        """
        found = self._live_object(identity)
        if found is None:
            opened = self._open.setdefault(identity, obj)
            found = self._live_object(identity)
            if found is None:
                # Each thread that gets the object does this: the first to close it must
                # find the entry. is_home() must be false once the object can be found.
                place = self._objects, identity
                reference = self._remember(opened, identity, False, 0, place)
                found = self._objects.setdefault(identity, reference)()
                if found is None:  # The reference was one to an object that is freed.
                    self._objects[identity] = reference
                if found is None or found is opened:
                    return opened, False
                # Meanwhile another thread has given the id to an object of the program.
                self._ids.pop(id(opened), None)
                self._open.pop(identity, None)
                return found, True
            # Meanwhile another thread has closed an object of its own, or has claimed
            # this object and not closed it yet.
            if opened is obj and found is not obj:
                self._open.pop(identity, None)
        return found, identity not in self._open

    def close(self, identity: bytes, obj: object) -> None:
        """Marks the object as complete."""
        self._open.pop(identity, None)
        if self._live_object(identity) is None:  # Another thread called forget.
            self._objects[identity] = self._reference(obj, identity)

    def forget(self, identity: bytes) -> None:
        """Removes an object that will never be complete."""
        if self._open.pop(identity, None) is not None:
            self._objects.pop(identity, None)

    def remove(self, identity: bytes, obj: object) -> None:
        """Makes the id mean no object, if it means this one."""
        if self._live_object(identity) is obj:
            self._objects.pop(identity, None)

    def _live_object(self, identity: bytes) -> object | None:
        reference = self._objects.get(identity)
        return reference() if reference is not None else None

    def _remember(
        self,
        obj: object,
        identity: bytes,
        is_home: bool,
        number: int,
        *places: tuple[dict[Any, Any], Any],
    ) -> ref[object]:
        """Records an object's id. The returned reference serves ``places``, too."""
        address = id(obj)
        reference = reference_from(obj, (self._ids, address), *places)
        self._ids[address] = reference, identity, is_home, number
        return reference

    def _reference(self, obj: object, identity: bytes) -> ref[object]:
        return reference_from(obj, (self._objects, identity))


def reference_from(obj: object, *places: tuple[dict[Any, Any], Any]) -> ref[Any]:
    """A weak reference that removes its entries when the object is freed.

    ``places`` are dicts with keys; an entry is the reference, or a tuple that begins
    with it. The caller adds the entries.
    """

    def remove(reference: ref[Any]) -> None:
        for table, key in places:
            entry = table.get(key)
            if (entry[0] if type(entry) is tuple else entry) is reference:
                del table[key]

    return ref(obj, remove)


def find_entry(table: dict[int, _Entry], obj: object) -> _Entry | None:
    """The entry of an object in a table by address, which begins with a reference."""
    entry = table.get(id(obj))
    return entry if entry is not None and entry[0]() is obj else None


def _all_classes() -> dict[int, ref[type]]:
    """All classes of the process, by address. Cost: milliseconds for thousands."""
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


#: The tracker of this interpreter.
TRACKER = Tracker()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TRACKER.leave_home)
