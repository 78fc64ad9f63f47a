"""Snapshots of attributes, to compare one payload of a class with the next.

Values are compared by marks: content hashes as those of ``waybill.fingerprint``, but
with classes by value as their ids. So no ``__eq__`` or ``__hash__`` of a program runs.
Text and numbers are their own marks.
Tested by tests/python/classes/test_class_state.py.
"""

from __future__ import annotations

import sys
import types
from _collections import OrderedDict, defaultdict
from _operator import is_
from itertools import repeat

from waybill import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Kind:
    """How an attribute is merged."""

    #: Functions, classmethods and the like: always replaced by the received one.
    METHOD = "method"
    #: Dicts and sets whose keys or items compare by value: merged one by one.
    KEYED = "keyed"
    #: Any other value: replaced if the sender changed it.
    WHOLE = "whole"


#: The value of an attribute that does not exist.
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()

#: Types of values that are their own marks.
PLAIN = frozenset({type(None), bool, int, str, bytes})
_KEYED = frozenset({dict, set, OrderedDict, defaultdict})
_MAX_KEY_DEPTH = 8
#: Attributes in which classmethods, properties and the like hold functions.
_WRAPPED = "__func__", "fget", "fset", "fdel", "func"
#: Names of class_parts that hold a description of the attribute, not its value.
SPECIAL = frozenset({"_abc_impl", "_member_map_", "__mapper__"})

is_method = _core.is_method


def is_dunder(name: str) -> bool:
    return len(name) > 4 and name[:2] == name[-2:] == "__"


#: Marks of frequent objects by address, valid while all are alive and unchanged.
MarkCache = dict[int, object]


def mark(value: Any, mark_cache: MarkCache | None = None) -> Any:
    """A mark: equal for equal values, and comparable without code of a program.

    The cost is that of encoding the value.
    """
    kind = type(value)
    if kind in PLAIN:
        return kind, value
    if kind is float:
        return kind, value.hex()
    if mark_cache is None:
        return _core.content_hash(value, True, True)
    found = mark_cache.get(id(value))
    if found is None:
        found = mark_cache[id(value)] = _core.content_hash(value, True, True)
    return found


def method_mark(value: Any) -> Any:
    """A mark of a method without the globals that its functions use."""
    if isinstance(value, types.FunctionType):
        cells = []
        for cell in value.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # The cell is empty.
                cells.append(ABSENT)
            else:
                is_function = is_method(content) and content is not value
                cells.append(_code_mark(content) if is_function else mark(content))
        given = value.__defaults__, value.__kwdefaults__
        return _code_mark(value), mark(given), tuple(cells)
    found = [getattr(value, name, None) for name in _WRAPPED]
    return type(value), tuple(None if f is None else method_mark(f) for f in found)


def _code_mark(value: Any) -> Any:
    code = getattr(getattr(value, "__func__", value), "__code__", None)
    return mark(code)


def _received_value(value: Any, resolved: Resolved | None) -> Any:
    return resolved.get(id(value), (None, value))[1] if resolved else value


#: Objects that replaced received ones, by address, each with the received one.
Resolved = dict[int, tuple[object, object]]


class Snapshot:
    """The value of one attribute at the time of a payload, and how it is merged."""

    __slots__ = (
        "entries",
        "factory",
        "is_resolved",
        "kind",
        "make_default",
        "mark",
        "marks",
        "type",
        "value",
    )

    def __init__(
        self,
        kind: str,
        value: Any,
        resolved: Resolved | None = None,
        mark_cache: MarkCache | None = None,
    ) -> None:
        self.kind, self.value = kind, value
        if kind is Kind.METHOD:
            return
        if resolved:
            value = _received_value(value, resolved)
        #: Whether the value is an object of this process, for all that refer to it.
        self.is_resolved = value is not self.value
        self.type = type(value)
        if kind is not Kind.KEYED:
            self.mark = mark(value, mark_cache) if kind is Kind.WHOLE else None
            return
        self.make_default: Any = None
        self.factory = None
        self.marks: dict[Any, Any] = {}
        if self.type is set:
            self.entries: Any = dict.fromkeys(value)
            return
        self.entries = dict(value)
        for key in self.entries:
            entry = self.entries[key]
            if type(entry) not in PLAIN:
                self.marks[key] = mark(_received_value(entry, resolved), mark_cache)
        if self.type is defaultdict:
            self.make_default = value.default_factory
            self.factory = mark(self.make_default)

    def is_of_kind(self, other: Snapshot) -> bool:
        return self.kind is other.kind and (
            self.kind is not Kind.KEYED or self.type is other.type
        )

    def is_same(self, other: Snapshot) -> bool:
        """Whether both are of the same value."""
        if not self.is_of_kind(other):
            return False
        if self.kind is Kind.METHOD:
            return bool(method_mark(self.value) == method_mark(other.value))
        if self.kind is not Kind.KEYED:  # LOST equals itself.
            return bool(self.mark == other.mark)
        if self.factory != other.factory or len(self.entries) != len(other.entries):
            return False
        if self.type is set:
            is_same = bool(self.entries.keys() == other.entries.keys())
            return is_same and not changed_keys(self.entries, other.entries)
        return list(self.entries) == list(other.entries) and self._has_entries(other)

    def _has_entries(self, other: Snapshot) -> bool:
        """Whether another dict with equal keys, in equal order, is the same."""
        pairs = zip(
            self.entries,
            self.entries.values(),
            other.entries,
            other.entries.values(),
            strict=True,
        )
        for key, mine, other_key, theirs in pairs:
            kind = type(mine)
            if kind is not type(theirs):
                return False
            if kind in PLAIN:
                if mine != theirs:
                    return False
            elif self.marks[key] != other.marks[other_key]:
                return False
            kind = type(key)
            if kind is not type(other_key):
                return False
            if kind not in PLAIN and not _is_same_key(key, other_key):
                return False
        return True

    def _is_same_entry(self, other: Snapshot, key: Any) -> bool:
        if key not in self.entries:
            return False
        mine, theirs = self.entries[key], other.entries[key]
        if type(mine) is not type(theirs):
            return False
        if type(mine) in PLAIN:
            return bool(mine == theirs)
        return bool(self.marks[key] == other.marks[key])

    def has_entry(self, key: Any, value: Any) -> bool:
        """Whether this is of a dict that had `value` under the key."""
        if self.kind is not Kind.KEYED or self.type is set or key not in self.entries:
            return False
        mine = self.entries[key]
        if type(mine) in PLAIN:
            return type(mine) is type(value) and bool(mine == value)
        return bool(self.marks[key] == mark(value))

    def matches(self, value: Any) -> bool:
        """Whether an attribute of this process still has the value of the snapshot."""
        if self.kind is Kind.METHOD:
            return value is self.value
        if type(value) is not self.type:
            return False
        if self.kind is Kind.WHOLE and self.type in PLAIN:
            return bool(value == self.value)
        return self.is_same(Snapshot(self.kind, value))

    def value_to_send(self) -> list[Any] | None:
        """The value in a list; None if it cannot be sent, now or before."""
        if self.kind is Kind.METHOD:
            return [self.value]
        value = self.value
        if self.kind is Kind.KEYED and self.type is defaultdict:
            value = defaultdict(self.make_default, self.entries)
        elif self.kind is Kind.KEYED:
            value = self.type(self.entries)
        try:
            _core.content_hash(value, False, True)
        except Exception:  # The value cannot be sent.
            return None
        return [value] if self.is_same(Snapshot(self.kind, value)) else None

    def replaces_unsendable(self, own: Any) -> bool:
        """Whether this value and `own` stand in for an object that cannot be sent. May
        run code of the program."""
        if self.kind is Kind.METHOD or type(own) is not self.type or self.type in PLAIN:
            return False
        try:
            _core.content_hash(self.value, False, True)
        except Exception:
            return True
        return False

    def changed_states(self, base: Snapshot) -> Any:
        """Of the states of an enumeration's members, those that `base` has not."""
        marks, before = getattr(self, "marks", None), getattr(base, "marks", {})
        if marks is None:
            return self.value
        changed = {}
        for name in marks:
            if name not in before or marks[name] != before[name]:
                changed[name] = self.value[name]
        return changed

    def patch_of(self, base: Snapshot | None, own: Any) -> Patch | None:
        """The changes to a dict or set of this process; None if there are none."""
        patch = Patch(self, base, own)
        return patch if patch.is_needed else None


def snapshot_of(
    name: str,
    value: Any,
    resolved: Resolved | None = None,
    mark_cache: MarkCache | None = None,
    last: Snapshot | None = None,
) -> Snapshot:
    """A snapshot of an attribute that a payload gives this value.

    Returns ``last``, the previous snapshot, if the value is plain and the same.
    """
    received = _received_value(value, resolved) if resolved else value
    if is_method(received):
        return Snapshot(Kind.METHOD, value)
    is_plain = type(received) in PLAIN and last is not LOST
    if last is not None and is_plain and last.matches(received):
        return last
    is_keyed = type(received) in _KEYED and name not in SPECIAL and not is_dunder(name)
    if is_keyed and all(map(_is_key, list(received))):
        return Snapshot(Kind.KEYED, value, resolved, mark_cache)
    snapshot = Snapshot(Kind.WHOLE, value, resolved, mark_cache)
    if name == "_member_map_" and isinstance(value, dict):
        snapshot.marks = {}
        for member in value:
            snapshot.marks[member] = mark(value[member], mark_cache)
    return snapshot


#: The snapshot of a value at the home process that the sender could not send.
LOST = Snapshot("lost", None)


def snapshot_to_keep(snapshot: Snapshot, before: Snapshot | None) -> Snapshot:
    """Which of two snapshots the baseline keeps: this one, stripped of objects that it
    does not need, or an equal one before it."""
    if snapshot is LOST:
        return before or snapshot
    if snapshot.kind is Kind.METHOD:
        return snapshot
    if before is not None and before.is_same(snapshot):
        return before
    if snapshot.kind is Kind.KEYED:
        snapshot.value = None  # The entries suffice.
    elif snapshot.type in (list, dict):
        # A copy, since the program may change the object.
        snapshot.value = snapshot.value.copy()
    return snapshot


def snapshots_of_module(
    module: types.ModuleType, mark_cache: MarkCache
) -> dict[str, Snapshot]:
    """Snapshots of the attributes of a module that was received by value, by name."""
    namespace, found = vars(module), {}
    for name in list(namespace):
        if not is_dunder(name):
            found[name] = snapshot_of(name, namespace[name], None, mark_cache)
    return found


def changed_keys(before: Any, after: Any) -> list[Any]:
    """The keys of `after` that are equal to one of `before`, but of another type."""
    for kind in (str, int):
        if _are_all_of(kind, before) and _are_all_of(kind, after):
            return []
    keys = dict(zip(before, before, strict=True))
    found = []
    for key in after:
        if key in keys and not _is_same_key(keys[key], key):
            found.append(key)
    return found


def _are_all_of(kind: type, keys: Any) -> bool:
    return all(map(is_, map(type, keys), repeat(kind)))


def _is_same_key(one: Any, other: Any) -> bool:
    """Whether two equal keys are of one type, as is all in them."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is tuple:
        return all(map(_is_same_key, one, other))
    if kind is frozenset:
        return not changed_keys(one, other)
    # Zeros of both signs are equal.
    return kind not in (float, complex) or repr(one) == repr(other)


def _is_key(key: Any, depth: int = 0) -> bool:
    """Whether a key is compared by value, without code of a program."""
    kind = type(key)
    if kind in PLAIN:
        return True
    if kind in (float, complex):
        return bool(key == key)
    if kind in (tuple, frozenset):
        depths = [depth + 1] * len(key)
        return depth < _MAX_KEY_DEPTH and all(map(_is_key, key, depths))
    if isinstance(key, type):
        return _takes_equality_from(kind, type)
    enum = sys.modules.get("enum")
    # Another thread may be about to import it.
    if enum is None or not issubclass(type(kind), getattr(enum, "EnumMeta", ())):
        return False
    return _takes_equality_from(kind, enum.Enum)


def _takes_equality_from(kind: type, usual: type) -> bool:
    """Whether a type takes `__eq__` and `__hash__` from `usual` or from a type in C."""
    for name in ("__eq__", "__hash__"):
        for base in kind.__mro__:
            found = vars(base).get(name)
            if found is not None:
                break
        is_in_python = isinstance(found, types.FunctionType)
        if is_in_python and found is not vars(usual).get(name):
            return False
    return True


class Patch:
    """A three-way merge of a dict or set, by key.

    Keys that the sender added or changed are set, keys that it removed are deleted, and
    keys that this process added stay, in order after the sender's.
    """

    def __init__(self, snapshot: Snapshot, base: Snapshot | None, own: Any) -> None:
        before = base.entries if base is not None else {}
        self._own_before = own.copy()
        current: Any = set(own) if snapshot.type is set else dict(own)
        changed = changed_keys(before, snapshot.entries)
        if snapshot.type is set:
            added = [key for key in snapshot.entries if key not in before]
            changed += changed_keys(current, added)
        self._set: dict[Any, Any] = dict.fromkeys(changed)
        for key in snapshot.entries:
            is_unchanged = base is not None and base._is_same_entry(snapshot, key)
            is_present = snapshot.type is set and key in current
            if key in self._set or (not is_unchanged and not is_present):
                self._set[key] = snapshot.entries[key]
        #: An assignment would leave the key that is there.
        self._replaced = changed_keys(current, self._set)
        self._removed: list[Any] = []
        for key in before:
            if key not in snapshot.entries and key in current:
                self._removed.append(key)
        self._order: dict[Any, Any] | None = None
        self._factory = ABSENT
        if snapshot.type is defaultdict and (
            base is None or base.factory != snapshot.factory
        ):
            self._factory = snapshot.make_default
        if snapshot.type is not set:
            self._find_order(snapshot, current, before)
        self._type = snapshot.type

    def _find_order(
        self, snapshot: Snapshot, current: dict[Any, Any], before: Any
    ) -> None:
        # The sender's keys in its order, then those of this process alone.
        wanted: dict[Any, Any] = {}
        common: list[Any] = []
        for key in snapshot.entries:
            if key in self._set or key in current:
                wanted[key] = self._set.get(key, current.get(key))
            if key in before:
                common.append(key)
        for key in current:
            if key not in wanted and key not in before:
                wanted[key] = current[key]
        updated = dict(current)
        for key in self._removed:
            del updated[key]
        updated.update(self._set)
        is_moved = list(before) != common
        is_changed = self._set or self._removed or is_moved
        if self._replaced or (is_changed and list(updated) != list(wanted)):
            self._order = wanted

    @property
    def is_needed(self) -> bool:
        changes = self._set, self._removed, self._order
        return any(changes) or self._factory is not ABSENT

    def run(self, own: Any, undo: list[tuple[Callable[..., object], Any]]) -> None:
        """Changes `own`. Adds a call to `undo` that restores it."""
        factory = own.default_factory if self._type is defaultdict else None
        undo.append((self._restore, (own, factory)))
        if self._type is set:
            own.difference_update(self._replaced)
            own.update(self._set)
            own.difference_update(self._removed)
            return
        if self._factory is not ABSENT:
            own.default_factory = self._factory
        if self._order is not None and self._type is dict:
            _core.replace_items(own, self._order)
        elif self._order is not None:
            own.clear()
            own.update(self._order)
        else:
            for key in self._removed:
                own.pop(key, None)
            own.update(self._set)

    def _restore(self, own: Any, factory: Any) -> None:
        own.clear()
        own.update(self._own_before)
        if self._type is defaultdict:
            own.default_factory = factory
