"""Class state: merges a payload into classes that this process already has.

Each received class and module by value has a baseline: a snapshot of each attribute in
the last payload. Where a new payload differs from the baseline, the sender has changed
the attribute, and the change is applied. All other attributes stay as this process has
them; their values are never hashed. The rules are in docs/class_state.md, and
`rules.decide` is their table.

Dicts are walked by key, closures and generators are avoided, and functions with
handlers are short. If memory runs out, CPython 3.11 crashes in items(), leaks objects
of closures and generators and the list a of [*a], and hangs in handlers after
instruction 256. Tested by tests/python/classes/test_class_state.py and its neighbours.
"""

from __future__ import annotations

import sys
import types

from waybill._classes import enumerations
from waybill._classes import making as class_making
from waybill._classes.identity import TRACKER
from waybill._classes.metadata import (
    METADATA,
    comparable_value,
    is_same_metadata,
    own_attribute,
    sent_metadata,
    with_slots,
)
from waybill._modules.received import ReceivedModules
from waybill._state.baselines import SERIALS, TABLE, Baseline, ClassChange, snapshots_in
from waybill._state.received_classes import (
    UNFINISHED_MEMBERS,
    NewClass,
    ReceivedClass,
    merge_class,
    methods_edited_by_sender,
    record_baseline,
    substitutes_of,
)
from waybill._state.snapshots import (
    ABSENT,
    LOST,
    Kind,
    Resolved,
    Snapshot,
    is_dunder,
    is_method,
    snapshot_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from waybill._state.rules import Undo

    #: The id of a class, the name of an attribute, and the key in the dict that is its
    #: value; None for the value itself.
    Place = tuple[bytes, str, str | None]

#: A module that is loaded when code of another version of Python comes.
_GENERATED = "waybill._source.generated"


class Merge:
    """Merges the classes and modules of one payload. The extension makes a Merge when
    it builds the first class or module.

    ``resets`` and ``side`` are the options ``reset_classes`` and ``class_state``.
    """

    def __init__(self, resets: bool, side: str | None) -> None:
        self._resets, self._side = resets, side
        self._received: dict[bytes, ReceivedClass] = {}
        self._new: dict[bytes, NewClass] = {}
        #: Classes whose state the last payload had already.
        self._repeated: dict[bytes, ReceivedClass] = {}
        #: Classes that this process did not have, by id.
        self._made: dict[bytes, Any] = {}
        self._modules: ReceivedModules | None = None
        #: Enumerations, by id, with what _begin_members() returned.
        self._members: dict[bytes, tuple[Any, dict[str, bool]]] = {}
        #: What `settle` returned, by address, each with the object that it replaced.
        self._resolved: Resolved = {}

    def settle(self, places: list[Place], value: object) -> object:
        """The object that attributes will have after the merge.

        ``value`` is what the payload has in all these places. An object that is left as
        it is comes before one that is patched.
        """
        settled = value
        for place in places:
            own, is_patched = self._own_after_merge(place, value)
            if own is value or (is_patched and settled is not value):
                continue
            settled = own
            if not is_patched:
                break
        if settled is not value:
            self._resolved[id(settled)] = settled, value
        return settled

    def _own_after_merge(self, place: Place, value: object) -> tuple[object, bool]:
        """The object of this process that stays in a place, and whether it is patched;
        `value` if that is set there."""
        identity, name, key = place
        cls = TRACKER.find(identity)
        if not isinstance(cls, type):
            return value, False
        own, side = own_attribute(cls, name), self._side_of(cls)
        if own is ABSENT or side in ("reset", "sender"):
            return value, False
        stays = TRACKER.is_home(cls)
        base = snapshots_in(TABLE.of(identity, cls)).get(name)
        if key is not None:
            if type(own) is not dict or key not in own or is_dunder(name):
                return value, False
            stays = stays or side == "worker"
            stays = stays or (base is not None and base.has_entry(key, value))
            return (own[key] if stays else value), False
        snapshot = snapshot_of(name, value)
        # Functions refer to objects of their own payload.
        if stays or snapshot.kind is Kind.METHOD:
            return (own if stays else value), False
        if side == "worker" or (base is not None and base.is_same(snapshot)):
            return own, False
        can_be_patched = snapshot.kind is Kind.KEYED and type(own) is snapshot.type
        if can_be_patched and (base is None or base.is_of_kind(snapshot)):
            return own, True
        return value, False

    def add(
        self,
        identity: bytes,
        cls: Any,
        existed: bool,
        metaclass: Any,
        name: str,
        bases: list[Any],
        namespace: dict[str, Any],
        attributes: dict[str, Any],
        home_state: Any,
        size: int,
    ) -> None:
        """Adds a class, which is complete except for the merge.

        ``existed``: this process had the class. ``home_state`` is the last value of its
        node, or Ellipsis: docs/wire_format.md. ``size`` is in bytes of the payload.
        """
        for built in (self._received, self._new, self._repeated):
            if identity in built:
                return  # The node was built again inside of itself.
        if not existed:
            self._made[identity] = cls
        attributes = _with_made_ones(cls, namespace, attributes)
        is_home = existed and TRACKER.is_home(cls)
        before = TABLE.of(identity, cls)
        is_plain = home_state is Ellipsis and _GENERATED not in sys.modules
        if is_plain and not existed and before is None and not self._resolved:
            new = NewClass(identity, cls, name, bases, namespace, attributes, size)
            if new.is_fixed():
                self._new[identity] = new
                return
        metadata = sent_metadata(cls, metaclass, name, bases, namespace, attributes)
        # Equal metadata is one object, so that it can be compared by identity.
        if before is not None and is_same_metadata(before.metadata, metadata):
            metadata = before.metadata
        if is_plain and self._add_repeated(
            identity, cls, size, before, metadata, attributes
        ):
            return
        state: dict[str, Snapshot] = {}
        snapshots: dict[str, Snapshot] | None = None
        if not is_home:
            state = self._snapshots_of(attributes, before)
            snapshots, metadata = _home_state(state, metadata, home_state)
        self._complete_members(identity, attributes)
        self._received[identity] = ReceivedClass(
            identity,
            cls,
            size,
            before,
            metadata,
            attributes,
            state,
            snapshots,
            existed,
            is_home,
            _members_of(cls, namespace, home_state),
            home_state,
        )

    def _add_repeated(
        self,
        identity: bytes,
        cls: Any,
        size: int,
        before: Baseline | None,
        metadata: dict[str, Any],
        attributes: dict[str, Any],
    ) -> bool:
        """Adds a class of which at most methods change; False if more does."""
        if before is None:
            return False
        same = self._unchanged_snapshots(cls, before, metadata, attributes)
        if same is None:
            return False
        self._repeated[identity] = ReceivedClass(
            identity, cls, size, before, metadata, attributes, same, same
        )
        return True

    def _unchanged_snapshots(
        self,
        cls: Any,
        before: Baseline,
        metadata: dict[str, Any],
        attributes: dict[str, Any],
    ) -> dict[str, Snapshot] | None:
        """The last snapshots if only methods change, as in most payloads; else None."""
        snapshots, own = before.snapshots, vars(cls)
        if (
            snapshots is None
            or snapshots.keys() != attributes.keys()
            or type(cls) is not type
            or TABLE.trace is not None
            or self._resets
            or self._side
            or "__waybill_state__" in own
            or metadata is not before.metadata
        ):
            return None
        for name in attributes:
            last, value = snapshots[name], attributes[name]
            if last.kind is Kind.METHOD:
                if own.get(name) is not last.value or not is_method(value):
                    return None
                continue
            snapshot = snapshot_of(name, value, self._resolved, None, last)
            if snapshot is not last and not last.is_same(snapshot):
                return None
        return snapshots

    def _snapshots_of(
        self, attributes: dict[str, Any], before: Baseline | None
    ) -> dict[str, Snapshot]:
        snapshots: dict[str, Snapshot] = {}
        last = snapshots_in(before)
        for name in attributes:
            snapshots[name] = snapshot_of(
                name, attributes[name], self._resolved, None, last.get(name)
            )
        return snapshots

    def add_members(self, identity: bytes, cls: Any, namespace: dict[str, Any]) -> None:
        """Adds the members that an enumeration of this process lacks, before an object
        of the payload refers to one."""
        if not TRACKER.is_home(cls) and enumerations.makes_enumerations(type(cls)):
            names = TABLE.call_locked(_begin_members, identity, cls, namespace)
            if names:
                self._members[identity] = cls, names

    def _complete_members(self, identity: bytes, attributes: dict[str, Any]) -> None:
        if identity not in self._members or "_member_map_" not in attributes:
            return
        cls, names = self._members[identity]
        states, new = attributes["_member_map_"], {}
        for name in names:
            if names[name] and name in states:
                new[name] = states[name]
        enumerations.set_states(cls, new)

    def add_module(self, module: types.ModuleType, is_part: bool) -> None:
        """Adds a module that was received by value, or a part of one."""
        self._modules = self._modules or ReceivedModules()
        self._modules.add(module, is_part)

    def add_imports(self, modules: dict[str, types.ModuleType]) -> None:
        """Lets imports find modules by value, by these names, from now on."""
        self._modules = self._modules or ReceivedModules()
        self._modules.serve(modules)

    def abandon(self) -> None:
        """Undoes all changes, after the payload failed."""
        if self._modules is not None:
            self._modules.abandon()
        for identity in self._made:
            cls = self._made[identity]
            if TABLE.of(identity, cls) is None:  # No other payload has brought it.
                TRACKER.remove(identity, cls)
        for identity in self._members:
            TABLE.call_locked(_end_members, identity, *self._members[identity], True)

    def _side_of(self, cls: type) -> str | None:
        if self._resets:
            return "reset"
        side = self._side or vars(cls).get("__waybill_state__")
        return side if side in ("sender", "worker") else None

    def apply(self) -> dict[bytes, int]:
        """Merges all classes and modules, or none, and records their baselines.

        Returns the serials of the classes, by id, before another payload could change
        them.
        """
        # Marks may run code of the program, so they are taken without the lock.
        if self._modules is not None:
            self._modules.take_snapshots()
        merged = None
        while merged is None:
            received_classes = list(self._received.values())
            edited, substitutes = {}, {}
            for received in received_classes:
                if received.before is not None:
                    edited[received.identity] = methods_edited_by_sender(received)
                if not snapshots_in(received.before):
                    substitutes[received.identity] = substitutes_of(received)
            undo: Undo = []
            merged = TABLE.call_locked(
                self._merge, received_classes, edited, substitutes, undo
            )
            if merged is None:
                self._compare_again()
        changes, dropped, serials = merged
        del merged, dropped, undo  # Releasing them may run code of the program.
        # Methods that a library generates are not in `changes`, but must be generated.
        has_generated = _GENERATED in sys.modules
        if not changes and not has_generated:
            return serials
        changed = {id(change.cls) for change in changes}
        for received in received_classes:
            if id(received.cls) in changed or (has_generated and not received.is_home):
                class_making.finish_class(received.cls)
        TABLE.report(changes)
        return serials

    def _is_current(self) -> bool:
        return all(map(ReceivedClass.is_current, self._repeated.values()))

    def _compare_again(self) -> None:
        """Compares repeated classes with the state that another payload has merged
        since."""
        for identity in list(self._repeated):
            repeated = self._repeated[identity]
            current = repeated.current_baseline()
            if current is not repeated.before:
                state = self._snapshots_of(repeated.attributes, current)
                self._received[identity] = repeated._replace(
                    state=state, snapshots=state, before=current
                )
                del self._repeated[identity]

    def _merge(
        self,
        received_classes: list[ReceivedClass],
        edited: dict[bytes, set[str]],
        substitutes: dict[bytes, set[str]],
        undo: Undo,
    ) -> tuple[list[ClassChange], list[object], dict[bytes, int]] | None:
        """None if another payload of a repeated class was merged since."""
        if not self._is_current():
            return None
        new_classes = []
        for new in self._new.values():
            # Another thread may have made the class since.
            if TABLE.of(new.identity, new.cls) is None:
                new_classes.append(new)
            else:
                received_classes.append(new.as_received())
        dropped: list[object] = []
        try:
            changes = self._change_all(received_classes, edited, substitutes, undo)
            _record(new_classes, received_classes, dropped, undo)
        except BaseException:
            for revert, given in reversed(undo):
                revert(*given)
            raise
        for identity in self._members:
            _end_members(identity, *self._members[identity], False)
        if self._modules is not None:
            dropped += self._modules.record_baseline()
        serials: dict[bytes, int] = {}
        for merged in (self._repeated.values(), new_classes, received_classes):
            for each in merged:
                if each.identity not in self._made:
                    # The payload that made the class may have failed since.
                    TRACKER.record_sent(each.identity, each.cls)
                if each.identity in SERIALS:  # Classes at home have none.
                    serials[each.identity] = SERIALS[each.identity]
        return changes, dropped, serials

    def _change_all(
        self,
        received_classes: list[ReceivedClass],
        edited: dict[bytes, set[str]],
        substitutes: dict[bytes, set[str]],
        undo: Undo,
    ) -> list[ClassChange]:
        changes: list[ClassChange] = []
        for cls, names in self._members.values():
            for name in names:
                if names[name]:
                    changes.append(ClassChange(cls, name, "set"))
        for repeated in self._repeated.values():
            repeated.replace_methods(undo)
        for received in received_classes:
            # Another thread may have made the class since.
            if received.existed or received.current_baseline() is not None:
                side = self._side_of(received.cls)
                changes += merge_class(received, side, edited, substitutes, undo)
        if self._modules is not None:
            changes += self._modules.adopt_changes(self._side, undo)
        return changes


def _record(
    new_classes: list[NewClass],
    received_classes: list[ReceivedClass],
    dropped: list[object],
    undo: Undo,
) -> None:
    """Records the baselines. Adds to `dropped` what to release after the lock."""
    for new in new_classes:
        undo.append(TABLE.undo_of_put(new.identity))
        dropped += TABLE.put(new.identity, new, True)
    for received in received_classes:
        if not received.is_home:
            dropped += record_baseline(received, undo)


def _with_made_ones(
    cls: Any, namespace: dict[str, Any], attributes: dict[str, Any]
) -> dict[str, Any]:
    """The attributes of a payload, and those that come from elsewhere: ``__slots__``
    from the namespace, generated methods from a library of this process."""
    if "__slots__" in namespace:
        attributes = with_slots(attributes, namespace)
    generated = sys.modules.get(_GENERATED)
    if generated is not None:
        attributes = generated.with_generated_methods(cls, attributes)
    return attributes


def _members_of(
    cls: Any, namespace: dict[str, Any], home_state: Any
) -> frozenset[str] | None:
    """Names of the members of an enumeration that its home process sent; else None."""
    if home_state is not Ellipsis or type(cls) is type:
        return None
    return enumerations.names_in(cls, namespace)


def _home_state(
    state: dict[str, Snapshot], metadata: dict[str, Any], home_state: Any
) -> tuple[dict[str, Snapshot] | None, dict[str, Any]]:
    """Snapshots and metadata of a class at its home process, from those at its sender.

    The snapshots are None if the sender does not know the state there.
    """
    if home_state is False:
        return None, metadata
    if not isinstance(home_state, dict):
        return state, metadata
    snapshots, metadata = dict(state), dict(metadata)
    for name in home_state:
        sent = home_state[name]
        if not isinstance(sent, list):
            snapshots[name] = LOST
        elif not sent:
            snapshots.pop(name, None)
        elif name in METADATA:
            metadata[name] = (
                tuple(sent[0]) if name == "__bases__" else comparable_value(sent[0])
            )
        else:
            snapshots[name] = snapshot_of(name, sent[0])
    return snapshots, metadata


def _begin_members(
    identity: bytes, cls: Any, namespace: dict[str, Any]
) -> dict[str, bool]:
    """Adds the members that the class lacks, and keeps those of the last payload until
    this one is merged. Returns the names of these, each with whether an unfinished
    payload has added it."""
    baseline = TABLE.of(identity, cls)
    members = baseline.members if baseline is not None else frozenset()
    added = enumerations.add_members(cls, namespace, members)
    for name in added:
        UNFINISHED_MEMBERS[identity, name] = [0, added[name], True]
    names: dict[str, bool] = {}
    for name in enumerations.values_in(namespace):
        place = identity, name
        if name in members and place not in UNFINISHED_MEMBERS:
            UNFINISHED_MEMBERS[place] = [0, ABSENT, False]
        if place in UNFINISHED_MEMBERS:
            UNFINISHED_MEMBERS[place][0] += 1
            names[name] = UNFINISHED_MEMBERS[place][2]
    return names


def _end_members(
    identity: bytes, cls: Any, names: dict[str, bool], has_failed: bool
) -> None:
    baseline = TABLE.of(identity, cls)
    members = baseline.members if baseline is not None else ()
    for name in names:
        entry = UNFINISHED_MEMBERS[identity, name]
        entry[0] -= 1
        if entry[0] != 0:  # Another unfinished payload has it.
            continue
        del UNFINISHED_MEMBERS[identity, name]
        if has_failed and name not in members:
            enumerations.remove_members(cls, [name])
            if entry[1] is not ABSENT:
                type.__setattr__(cls, name, entry[1])
