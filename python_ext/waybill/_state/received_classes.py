"""Merges the state of classes that a payload holds and this process already has.

_state/merge.py defines the order of the walk. Tested by
tests/python/classes/test_class_state.py and its neighbours.
"""

from __future__ import annotations

from waybill._api.named_tuples import NamedTuple
from waybill._classes import enumerations
from waybill._classes import making as class_making
from waybill._classes.metadata import (
    COMPILER_MADE,
    METADATA,
    is_same_metadata,
    is_same_value,
    metadata_value,
    own_attribute,
    sent_metadata,
)
from waybill._classes.parts import class_parts
from waybill._core import slot_descriptor
from waybill._state.baselines import TABLE, USES, Baseline, ClassChange, snapshots_in
from waybill._state.rules import KEEP, SET, decide
from waybill._state.snapshots import (
    ABSENT,
    LOST,
    PLAIN,
    SPECIAL,
    Kind,
    Snapshot,
    is_method,
    snapshot_of,
    snapshot_to_keep,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from waybill._state.rules import Undo

#: Attributes that ctypes and SQLAlchemy set when they make a class; never set again.
_MADE_WITH = frozenset(
    {"_fields_", "_anonymous_", "_pack_", "_align_", "__mapper__", "_sa_class_manager"}
)


#: Members that unfinished payloads have, by the id of the class and the name: the
#: number of these payloads, the attribute that the class had before one of them added
#: the member, and whether one did. They stay until these payloads are merged.
UNFINISHED_MEMBERS: dict[tuple[bytes, str], list[Any]] = {}


class ReceivedClass(NamedTuple):
    """One class of a payload."""

    identity: bytes
    cls: Any
    size: int
    #: The baseline when the class was complete.
    before: Baseline | None
    metadata: dict[str, Any]
    #: The state of the class at the sender: values, and snapshots of them.
    attributes: dict[str, Any]
    state: dict[str, Snapshot]
    #: The state that the home process sent last; None if the sender does not know it.
    snapshots: dict[str, Snapshot] | None
    existed: bool = True
    #: Whether the program of this process made the class.
    is_home: bool = False
    #: Names of members of an enumeration; None if the sender is not its home.
    members: frozenset[str] | None = frozenset()
    #: The last value of the node, or Ellipsis: docs/wire_format.md.
    home_state: Any = ...

    def current_baseline(self) -> Baseline | None:
        return TABLE.of(self.identity, self.cls)

    def is_current(self) -> bool:
        """Whether no other payload of the class was merged since it was complete."""
        return self.current_baseline() is self.before

    # ---- Of a class whose state the last payload had already.

    def replace_methods(self, undo: Undo) -> None:
        """Sets the methods of the payload, whose functions use the payload's globals,
        and records them in the baseline."""
        cls, own = self.cls, vars(self.cls)
        USES[self.identity] = None
        for name in self.state:
            last = self.state[name]
            if last.kind is not Kind.METHOD:
                continue
            is_own = own.get(name) is last.value
            # First, as each step may run out of memory.
            undo.append((_restore_method, (cls, name, last, last.value, is_own)))
            if is_own:
                # Its metaclass is `type`, which accepts any attribute.
                setattr(cls, name, self.attributes[name])
            last.value = self.attributes[name]


class NewClass(NamedTuple):
    """A class that this process has not had before.

    It is stored in place of a baseline, whose snapshots are taken when they are first
    read: most classes are received only once, or without a change.
    """

    identity: bytes
    cls: Any
    name: str
    bases: list[Any]
    namespace: dict[str, Any]
    attributes: dict[str, Any]
    size: int

    def is_fixed(self) -> bool:
        """Whether later snapshots would equal snapshots of now, because all values are
        methods, text, numbers or tuples of text and numbers."""
        if type(self.cls) is not type or not self.bases:
            return False
        for base in self.bases:
            if not isinstance(base, type):
                return False
        attributes = self.attributes
        for name in attributes:
            value = attributes[name]
            if type(value) in PLAIN or is_method(value):
                continue
            if type(value) is not tuple:
                return False
            for item in value:
                if type(item) not in PLAIN:
                    return False
        given = self.namespace.get("__module__"), self.namespace.get("__doc__")
        return type(given[0]) in PLAIN and type(given[1]) in PLAIN

    def baseline(self) -> Baseline:
        snapshots, attributes = {}, self.attributes
        for name in attributes:
            snapshots[name] = snapshot_of(name, attributes[name])
        metadata = sent_metadata(
            self.cls, type, self.name, self.bases, self.namespace, attributes
        )
        return Baseline(self.cls, snapshots, metadata, frozenset(), self.size)

    def as_received(self) -> ReceivedClass:
        """A ReceivedClass, to merge with what another payload has set since."""
        baseline = self.baseline()
        snapshots = baseline.snapshots or {}
        return ReceivedClass(
            self.identity,
            self.cls,
            self.size,
            None,
            baseline.metadata,
            self.attributes,
            snapshots,
            snapshots,
            existed=False,
            members=None,
        )


def methods_edited_by_sender(received: ReceivedClass) -> set[str]:
    """Names of methods that the sender has changed, among those that this process has
    replaced; among all methods, if a trace is set."""
    found: set[str] = set()
    snapshots, last = received.snapshots or {}, snapshots_in(received.before)
    for name in snapshots:
        snapshot, base = snapshots[name], last.get(name)
        if base is None or snapshot.kind is not Kind.METHOD:
            continue
        is_own = own_attribute(received.cls, name) is not base.value
        if (is_own or TABLE.trace is not None) and not base.is_same(snapshot):
            found.add(name)
    return found


def substitutes_of(received: ReceivedClass) -> set[str]:
    """Names of attributes that stand in for objects that cannot be sent, in a class
    without a baseline. They are set once."""
    found: set[str] = set()
    if received.is_home or not received.existed:
        return found
    state = received.state if received.snapshots is None else received.snapshots
    for name in state:
        own = own_attribute(received.cls, name)
        if own is not ABSENT and state[name].replaces_unsendable(own):
            found.add(name)
    return found


def merge_class(
    received: ReceivedClass,
    side: str | None,
    edited_methods: dict[bytes, set[str]],
    substitutes: dict[bytes, set[str]],
    undo: Undo,
) -> list[ClassChange]:
    """Merges the payload into a class that this process had."""
    cls = received.cls
    if received.is_home:
        found = received.attributes if side == "reset" else _edited_methods(received)
        changes = []
        for name in found:
            _set(cls, name, found[name], undo, own_attribute(cls, name))
            changes.append(ClassChange(cls, name, "set"))
        return changes
    baseline = received.current_baseline()
    if baseline is not None and baseline.snapshots is None:
        baseline = None
    state = received.snapshots
    if state is None:
        # A sender that does not know the home state sends no changes.
        if side is None and baseline is not None:
            return []
        state = received.state
    edited = edited_methods.get(received.identity, ())
    substituted = substitutes.get(received.identity, ())
    changes = _change_metadata(received, baseline, side, undo)
    last = snapshots_in(baseline)
    for name in state:
        snapshot, base = state[name], last.get(name)
        if snapshot is LOST or (snapshot is base and side is None):
            continue
        own = own_attribute(cls, name)
        if name in _MADE_WITH and own is not ABSENT and base is None:
            continue
        is_substitute = name in substituted and baseline is None
        change = decide(snapshot, own, base, side, name in edited, is_substitute)
        if change is SET and own is not snapshot.value:
            value = snapshot.value
            if name == "_member_map_" and base is not None and side is None:
                value = snapshot.changed_states(base)
            _set(cls, name, value, undo, own)
            # An equal method is replaced too, but does not count as a change.
            if base is None or snapshot.kind is not Kind.METHOD or name in edited:
                changes.append(ClassChange(cls, name, "set"))
        elif change not in (SET, KEEP):
            change.run(own, undo)
            changes.append(ClassChange(cls, name, "patched"))
    changes += _remove_attributes(cls, state, baseline, side, undo)
    return changes + _remove_members(received, baseline, side, undo)


def _remove_attributes(
    cls: type,
    state: dict[str, Snapshot],
    baseline: Baseline | None,
    side: str | None,
    undo: Undo,
) -> list[ClassChange]:
    names: list[str] = []
    if side == "sender":
        names = list(class_parts(cls)[4])
    elif side is None:
        names = list(snapshots_in(baseline))
    removed = []
    for name in names:
        # Registrations with an abstract class are a union; without the attribute that
        # holds them the class would have those of its base.
        if name in state or name in COMPILER_MADE or name in SPECIAL:
            continue
        if name in vars(cls):
            removed.append(_delete(cls, name, undo))
    return removed


def _remove_members(
    received: ReceivedClass, baseline: Baseline | None, side: str | None, undo: Undo
) -> list[ClassChange]:
    cls, members = received.cls, received.members
    before: Any = ()
    if side == "sender" and members:
        before = cls._member_map_
    elif side is None and baseline is not None:
        before = baseline.members
    if members is None or not before:
        return []
    removed = []
    for name in before:
        is_unfinished = (received.identity, name) in UNFINISHED_MEMBERS
        if name not in members and not is_unfinished:
            removed.append(name)
    if removed:
        undo.append(enumerations.remove_members(cls, removed))
    return [ClassChange(cls, name, "deleted") for name in removed]


def _change_metadata(
    received: ReceivedClass, baseline: Baseline | None, side: str | None, undo: Undo
) -> list[ClassChange]:
    changes: list[ClassChange] = []
    if side is None and baseline is not None and received.metadata is baseline.metadata:
        return changes
    for name in METADATA if side != "worker" else ():
        value = received.metadata[name]
        before = baseline.metadata[name] if baseline is not None else ABSENT
        if side is None and is_same_value(before, value):
            continue
        own = metadata_value(received.cls, name)
        value = value.value if isinstance(value, Snapshot) else value
        if not is_same_value(own, value):
            _set(received.cls, name, value, undo, own)
            changes.append(ClassChange(received.cls, name, "set"))
    return changes


def _edited_methods(received: ReceivedClass) -> dict[str, Any]:
    """Methods whose code a worker has changed, and the home process has not since. At
    the home process, a payload changes no other methods."""
    from waybill._core import has_other_code

    found: dict[str, Any] = {}
    home = received.home_state if isinstance(received.home_state, dict) else {}
    for name in home:
        sent = home[name]
        own = own_attribute(received.cls, name)
        value = received.attributes.get(name, ABSENT)
        if own is ABSENT or value is ABSENT or not isinstance(sent, list) or not sent:
            continue
        if False in map(is_method, (own, value, sent[0])):
            continue
        if not has_other_code(own, sent[0]) and has_other_code(own, value):
            found[name] = value
    return found


def _set(cls: Any, name: str, value: Any, undo: Undo, own: Any) -> None:
    # First, as a signal may raise between any two steps.
    undo.append((_restore, (cls, name, own)))
    try:
        _put(cls, name, value)
    except (TypeError, AttributeError, ValueError) as error:
        undo.pop()
        raise _conflict(cls, name, error) from error
    if name in SPECIAL:
        undo.pop()


def _delete(cls: Any, name: str, undo: Undo) -> ClassChange:
    own = vars(cls)[name]
    slot = slot_descriptor(cls, name)
    undo.append((_restore, (cls, name, own)))
    try:
        if slot is None:
            class_making.delete_class_attribute(cls, name)
        else:  # The attribute had replaced the slot.
            class_making.set_class_attribute(cls, name, slot)
    except (TypeError, AttributeError) as error:
        undo.pop()
        raise _conflict(cls, name, error) from error
    return ClassChange(cls, name, "deleted" if slot is None else "set")


def _put(cls: Any, name: str, value: Any) -> None:
    if name in METADATA:
        type.__setattr__(cls, name, value)
    else:
        class_making.set_class_attribute(cls, name, value)


def _restore(cls: Any, name: str, own: Any) -> None:
    if own is not ABSENT:
        _put(cls, name, own)
    elif name in vars(cls):
        class_making.delete_class_attribute(cls, name)


def _restore_method(
    cls: Any, name: str, last: Snapshot, value: Any, is_own: bool
) -> None:
    last.value = value
    if is_own:
        setattr(cls, name, value)


def _conflict(cls: Any, name: str, error: Exception) -> Exception:
    from waybill._api.errors import refusal

    qualname = metadata_value(cls, "__qualname__")
    return refusal(
        "class_conflict",
        f"{qualname} cannot be given the {name} of the payload: {error}; send another "
        "class, or restart this process",
    )


def record_baseline(received: ReceivedClass, undo: Undo) -> list[object]:
    """Makes the received state the baseline. Returns what to release after the lock."""
    undo.append(TABLE.undo_of_put(received.identity))
    old = received.current_baseline()
    snapshots, metadata = received.snapshots, received.metadata
    members, before = received.members, {}
    differs = old is None
    if old is not None:
        before = old.snapshots or {}
        if snapshots is None:
            snapshots, metadata = old.snapshots, old.metadata
        elif before.keys() != snapshots.keys():
            differs = True
        if members is None:
            members = old.members
        differs = differs or members != old.members
        if metadata is not old.metadata:
            differs = differs or not is_same_metadata(old.metadata, metadata)
    sent = snapshots or {}
    for name in sent:
        snapshot = sent[name]
        # Methods are new objects in each payload; `differs` does not depend on them.
        if snapshot.kind is Kind.METHOD:
            continue
        last = before.get(name)
        if snapshot is not last:
            # An equal snapshot is not replaced: the program uses its value.
            sent[name] = snapshot_to_keep(snapshot, last)
            differs = differs or sent[name] is not last
    baseline = Baseline(
        received.cls, snapshots, metadata, members or frozenset(), received.size
    )
    return TABLE.put(received.identity, baseline, differs)
