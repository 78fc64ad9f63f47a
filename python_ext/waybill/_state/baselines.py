"""Baselines: the state of received classes and modules by value in their last payload.

A baseline is state, not a cache: it separates changes of the sender from changes of
this process. The table is bounded, and keeps the classes alive, so that their state
does not depend on the garbage collector. Tested by
tests/python/classes/test_class_lifetime.py and test_class_relay.py.
"""

from __future__ import annotations

import itertools
import os
from _thread import RLock
from types import ModuleType

from waybill._api.named_tuples import NamedTuple
from waybill._classes.identity import TRACKER
from waybill._classes.metadata import (
    COMPILER_MADE,
    is_same_value,
    metadata_value,
    own_attribute,
    with_slots,
)
from waybill._classes.parts import class_parts
from waybill._state.snapshots import LOST, Kind, Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from waybill._state.received_classes import NewClass

    _T = TypeVar("_T")


#: A number for each class, by id; it changes with the baseline. The extension reads it.
SERIALS: dict[bytes, int] = {}
#: Ids of classes that the extension used without reading the table. They count as
#: recently used.
USES: dict[bytes, None] = {}

#: The default bounds of the table.
MAX_CLASSES, MAX_CLASS_BYTES = 1024, 256 << 20


class ClassChange(NamedTuple):
    """One change that a payload made to a class or to a module by value."""

    cls: Any
    #: The name of the attribute.
    attribute: str
    #: "set", "deleted", or "patched": a dict or set was changed in place.
    action: str


class Baseline(NamedTuple):
    """The state of a class in the last payload that held it."""

    cls: Any
    #: By attribute; None if the sender did not know the state at the home process.
    snapshots: dict[str, Snapshot] | None
    #: By the names of `metadata.METADATA`.
    metadata: dict[str, Any]
    #: Names of members, if it is an enumeration.
    members: frozenset[str]
    #: Bytes that the class took in the payload.
    size: int


def snapshots_in(baseline: Baseline | None) -> dict[str, Snapshot]:
    """The snapshots of a baseline; empty if it has none."""
    return (baseline.snapshots if baseline is not None else None) or {}


class Table:
    """The baselines of the classes used last. Safe for any number of threads."""

    def __init__(self) -> None:
        self.trace: Callable[[ClassChange], object] | None = None
        #: Incremented when a payload changes a baseline, and by ``configure``.
        self.generation = 0
        #: Modules by value, by name: the one received last, and its snapshots.
        self.modules: dict[str, tuple[ModuleType, dict[str, Snapshot]]] = {}
        #: A NewClass is replaced by its baseline when that is first read.
        self._baselines: dict[bytes, Baseline | NewClass] = {}
        self._size = 0
        self._max_count, self._max_size = MAX_CLASSES, MAX_CLASS_BYTES
        self._serials = itertools.count(1)
        self.make_lock()

    def make_lock(self) -> None:
        self.lock = RLock()

    def begin_fork(self) -> None:
        """Waits for the merge of another thread, which a child could not complete."""
        self.lock.acquire()

    def end_fork(self) -> None:
        self.lock.release()

    def call_locked(self, step: Callable[..., _T], *given: object) -> _T:
        """Calls `step` under the lock and returns its result."""
        with self.lock:
            return step(*given)

    def of(self, identity: bytes, cls: type) -> Baseline | None:
        """The baseline of a class; None if there is none, or it is of another class."""
        baseline = self._baselines.get(identity)
        if baseline is None or baseline.cls is not cls:
            return None
        if isinstance(baseline, Baseline):
            return baseline
        return self._derive(identity, cls)

    def _derive(self, identity: bytes, cls: type) -> Baseline | None:
        with self.lock:
            entry = self._baselines.get(identity)
            if entry is None or entry.cls is not cls:
                return None  # Another thread has replaced it since.
            if isinstance(entry, Baseline):
                return entry
            baseline = self._baselines[identity] = entry.baseline()
        return baseline  # `entry` is released after the lock.

    def put(
        self, identity: bytes, baseline: Baseline | NewClass, differs: bool
    ) -> list[object]:
        """Stores a baseline. ``differs``: it is not equal to the one before.

        Returns objects that the caller must release after the lock.
        """
        self._move_used()
        old = self._baselines.pop(identity, None)
        self._baselines[identity] = baseline
        self._size += baseline.size - (old.size if old is not None else 0)
        if differs or identity not in SERIALS:
            SERIALS[identity] = next(self._serials)
            self.generation += 1
        return [old, *self._shrink()]

    def undo_of_put(self, identity: bytes) -> tuple[Callable[..., object], Any]:
        """A function, with its arguments, that undoes the next put() of a class."""
        old, serial = self._baselines.get(identity), SERIALS.get(identity)
        return self._put_back, (identity, old, serial)

    def _put_back(
        self, identity: bytes, old: Baseline | NewClass | None, serial: int | None
    ) -> None:
        self._baselines.pop(identity, None)
        if old is not None:
            self._baselines[identity] = old
        if serial is not None:
            SERIALS[identity] = serial
        else:
            SERIALS.pop(identity, None)
        self.generation += 1
        self._size = 0
        for baseline in self._baselines.values():
            self._size += baseline.size

    def put_module(
        self, module: ModuleType, snapshots: dict[str, Snapshot]
    ) -> list[object]:
        """Stores the baseline of a module, as ``put`` does."""
        dropped: list[object] = [self.modules.pop(module.__name__, None)]
        self.modules[module.__name__] = module, snapshots
        self.generation += 1
        while len(self.modules) > self._max_count:
            dropped.append(self.modules.pop(next(iter(self.modules))))
        return dropped

    def set_bounds(self, count: int | None, size: int | None) -> None:
        """Sets the bounds that are not None, and evicts what exceeds them."""
        with self.lock:
            self._max_count = count or self._max_count
            self._max_size = size or self._max_size
            self._move_used()
            dropped = self._shrink()
        del dropped

    def forget(self) -> None:
        """Empties the table."""
        with self.lock:
            dropped = self._baselines, self.modules
            self._baselines, self.modules, self._size = {}, {}, 0
            SERIALS.clear()
            USES.clear()
            self.generation += 1
        del dropped

    def report(self, changes: list[ClassChange]) -> None:
        """Calls the trace for each change."""
        if self.trace is not None:
            for change in changes:
                self.trace(change)

    def _move_used(self) -> None:
        """Moves the classes that were used since the last call behind all others."""
        while USES:
            identity = next(iter(USES))
            del USES[identity]
            baseline = self._baselines.pop(identity, None)
            if baseline is not None:
                self._baselines[identity] = baseline

    def _shrink(self) -> list[object]:
        dropped: list[object] = []
        while len(self._baselines) > self._max_count or (
            self._size > self._max_size and len(self._baselines) > 1
        ):
            identity = next(iter(self._baselines))
            baseline = self._baselines.pop(identity)
            SERIALS.pop(identity, None)
            self._size -= baseline.size
            dropped.append(baseline)
        return dropped


#: The table of this interpreter.
TABLE = Table()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=TABLE.begin_fork,
        after_in_parent=TABLE.end_fork,
        after_in_child=TABLE.make_lock,
    )


def forget_classes() -> None:
    """Forgets the baselines of all received classes.

    Classes that nothing else holds are freed. One that still exists when it is received
    again gets the attributes of that payload, and loses none.
    """
    TABLE.forget()


def has_replaced_methods(identity: bytes, cls: type) -> bool:
    """Whether the class has other objects than the methods of its baseline, which are
    sent on."""
    snapshots = snapshots_in(TABLE.of(identity, cls))
    for name in snapshots:
        snapshot = snapshots[name]
        is_replaced = own_attribute(cls, name) is not snapshot.value
        if snapshot.kind is Kind.METHOD and is_replaced:
            return True
    return False


def parts_to_relay(cls: type) -> tuple[Any, Any]:
    """The class_parts of a received class, and the state that its home process sent
    last, both from between two merges.

    The state is the last value of the class's node, as docs/wire_format.md defines it:
    None if it does not differ from the attributes.
    """
    identity = TRACKER.id_of(cls)
    while True:
        before = TABLE.call_locked(TABLE.of, identity, cls)
        parts = class_parts(cls)
        home_state = (
            _home_state_of(identity, cls, parts[4]) if len(parts) == 5 else None
        )
        # Each merge that changes the class makes a new baseline.
        if TABLE.call_locked(TABLE.of, identity, cls) is before:
            return parts, home_state


def _home_state_of(identity: bytes, cls: type, attributes: dict[str, Any]) -> Any:
    baseline = TABLE.of(identity, cls)
    if baseline is None or baseline.snapshots is None:
        return None if TRACKER.is_as_first_sent(identity, cls) else False
    snapshots = baseline.snapshots
    if "__slots__" in snapshots and "__slots__" in vars(cls):
        attributes = with_slots(attributes, vars(cls))
    found: dict[str, Any] = {}
    for name in attributes:
        snapshot = snapshots.get(name)
        if snapshot is not None and (
            snapshot is LOST or not snapshot.matches(attributes[name])
        ):
            found[name] = snapshot.value_to_send()
        elif snapshot is None and name not in COMPILER_MADE:
            found[name] = []
    for name in snapshots:
        if name not in attributes and name not in COMPILER_MADE:
            found[name] = snapshots[name].value_to_send()
    for name in baseline.metadata:
        value = baseline.metadata[name]
        value = value.value if isinstance(value, Snapshot) else value
        if not is_same_value(metadata_value(cls, name), value):
            found[name] = [list(value) if isinstance(value, tuple) else value]
    members = vars(cls).get("_member_map_", ())
    if baseline.members and baseline.members != frozenset(members):
        # A receiver that has the class must see that these are not the home's members.
        found["_member_map_"] = None
    return found or None
