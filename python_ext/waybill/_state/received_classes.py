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
    FACTS,
    are_same_facts,
    fact,
    is_same_fact,
    own_attribute,
)
from waybill._classes.parts import class_parts
from waybill._state import snapshots
from waybill._state.baselines import TABLE, USES, Baseline, ClassChange
from waybill._state.rules import LEFT, SET, decide
from waybill._state.snapshots import ABSENT, LOST, Kind, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from waybill._state.rules import Undo

#: Attributes that are set once, when a class of ctypes or SQLAlchemy is made.
_MADE_WITH = frozenset(
    {
        "_fields_",
        "_anonymous_",
        "_pack_",
        "_align_",
        "__mapper__",
        "_sa_class_manager",
    }
)


class ArrivedClass(NamedTuple):
    """What a payload says of one class."""

    identity: bytes
    cls: Any
    was_here: bool
    #: Whether the program of this process made it.
    is_home: bool
    #: The state of the class at the sender, as it came, and as words.
    attributes: dict[str, Any]
    state: dict[str, Word]
    #: What the home of the class said last; None if the sender does not know.
    words: dict[str, Word] | None
    facts: dict[str, Any]
    #: Names of members of an enumeration; None if the sender is not its home.
    members: frozenset[str] | None
    size: int
    #: The last value of the node.
    word: Any
    #: The baseline when the class was complete.
    before: Baseline | None


class RepeatedClass(NamedTuple):
    """A class of which a payload says what the last one said."""

    identity: bytes
    cls: Any
    before: Baseline
    #: Of the baseline.
    words: dict[str, Word]
    attributes: dict[str, Any]
    size: int

    def last(self) -> Baseline | None:
        return TABLE.of(self.identity, self.cls)

    def arrived(self, words: dict[str, Word]) -> ArrivedClass:
        """The same, to be merged into what another payload said meanwhile."""
        return ArrivedClass(
            self.identity,
            self.cls,
            True,
            False,
            self.attributes,
            words,
            words,
            self.before.facts,
            frozenset(),
            self.size,
            ...,
            self.last(),
        )

    def replace_methods(self, undo: Undo) -> None:
        """Gives the class the methods of the payload, with its functions' globals.

        Does nothing if another thread was faster: it is as if its payload came after.
        """
        if self.last() is not self.before:
            return
        attributes = vars(self.cls)
        for name in self.words:
            last = self.words[name]
            if last.kind is Kind.METHOD and attributes.get(name) is last.value:
                _set(self.cls, name, self.attributes[name], undo, last.value)

    def take_note(self) -> list[object]:
        """Makes the methods the last that came; answers what is to be dropped."""
        dropped: list[object] = []
        if self.last() is self.before:
            for name in self.words:
                last = self.words[name]
                if last.kind is Kind.METHOD:
                    dropped.append(last.value)
                    last.value = self.attributes[name]
            USES[self.identity] = None
        return dropped


def word_in(baseline: Baseline | None, name: str) -> Word | None:
    if baseline is None or baseline.words is None:
        return None
    return baseline.words.get(name)


def other_methods(arrival: ArrivedClass) -> set[str]:
    """Methods that the sender has changed, of those in whose place this process has put
    something; of all methods, if somebody wants to know."""
    found: set[str] = set()
    words, baseline = arrival.words, arrival.before
    if words is None or baseline is None or baseline.words is None:
        return found
    for name in words:
        word, base = words[name], baseline.words.get(name)
        if base is None or word.kind is not Kind.METHOD:
            continue
        is_own = own_attribute(arrival.cls, name) is not base.value
        if (is_own or TABLE.trace is not None) and not base.is_same(word):
            found.add(name)
    return found


def merge_class(
    arrival: ArrivedClass,
    side: str | None,
    others: dict[bytes, set[str]],
    undo: Undo,
) -> list[ClassChange]:
    """Merges what a payload says into a class that was here."""
    cls = arrival.cls
    if arrival.is_home:
        found = arrival.attributes if side == "reset" else _edited(arrival)
        changes = []
        for name in found:
            _set(cls, name, found[name], undo, own_attribute(cls, name))
            changes.append(ClassChange(cls, name, "set"))
        return changes
    baseline = TABLE.of(arrival.identity, cls)
    if baseline is not None and baseline.words is None:
        baseline = None
    said = arrival.words
    if said is None:
        # Who does not know the word carries no change.
        if side is None and baseline is not None:
            return []
        said = arrival.state
    other = others[arrival.identity]
    changes = _change_facts(arrival, baseline, side, undo)
    last = (baseline.words if baseline is not None else None) or {}
    for name in said:
        word, base = said[name], last.get(name)
        if word is LOST or (word is base and side is None):
            continue
        own = own_attribute(cls, name)
        if name in _MADE_WITH and own is not ABSENT and base is None:
            continue
        change = decide(word, own, base, side, name in other, baseline is not None)
        if change is SET and own is not word.value:
            value = word.value
            if name == "_member_map_" and base is not None and side is None:
                value = enumerations.changed_states(value, base.value)
            _set(cls, name, value, undo, own)
            # A method that is what it was is of this payload all the same.
            if base is None or word.kind is not Kind.METHOD or name in other:
                changes.append(ClassChange(cls, name, "set"))
        elif change not in (SET, LEFT):
            change.run(own, undo)
            changes.append(ClassChange(cls, name, "patched"))
    gone: list[str] = []
    if side == "sender":
        gone = list(class_parts(cls)[4])
    elif side is None and baseline is not None:
        gone = list(baseline.words or ())
    for name in gone:
        # Registrations with an abstract class are a union; without the attribute that
        # holds them the class would have those of its base.
        if name in said or name in COMPILER_MADE or name in snapshots.SPECIAL:
            continue
        if name in vars(cls):
            changes.append(_delete(cls, name, undo))
    return changes + _remove_members(arrival, baseline, side, undo)


def _remove_members(
    arrival: ArrivedClass, baseline: Baseline | None, side: str | None, undo: Undo
) -> list[ClassChange]:
    cls, said = arrival.cls, arrival.members
    before: Any = ()
    if side == "sender" and said:
        before = cls._member_map_
    elif side is None and baseline is not None:
        before = baseline.members
    if said is None or not before:
        return []
    gone = [name for name in before if name not in said]
    if gone:
        undo.append(enumerations.remove_members(cls, gone))
    return [ClassChange(cls, name, "deleted") for name in gone]


def _change_facts(
    arrival: ArrivedClass, baseline: Baseline | None, side: str | None, undo: Undo
) -> list[ClassChange]:
    changes: list[ClassChange] = []
    if side is None and baseline is not None and arrival.facts is baseline.facts:
        return changes
    for name in FACTS if side != "worker" else ():
        value = arrival.facts[name]
        before = baseline.facts[name] if baseline is not None else ABSENT
        if side is None and is_same_fact(before, value):
            continue
        own = fact(arrival.cls, name)
        value = value.value if isinstance(value, Word) else value
        if not is_same_fact(own, value):
            _set(arrival.cls, name, value, undo, own)
            changes.append(ClassChange(arrival.cls, name, "set"))
    return changes


def _edited(arrival: ArrivedClass) -> dict[str, Any]:
    """Methods whose code a worker has changed, and the home of the class has not since
    it sent them: all that a payload changes there."""
    from waybill._core import has_other_code

    found: dict[str, Any] = {}
    word = arrival.word if isinstance(arrival.word, dict) else {}
    for name in word:
        said = word[name]
        own = own_attribute(arrival.cls, name)
        value = arrival.attributes.get(name, ABSENT)
        if own is ABSENT or value is ABSENT or not isinstance(said, list) or not said:
            continue
        if False in map(snapshots.is_method, (own, value, said[0])):
            continue
        if not has_other_code(own, said[0]) and has_other_code(own, value):
            found[name] = value
    return found


def _set(cls: Any, name: str, value: Any, undo: Undo, own: Any) -> None:
    try:
        _put(cls, name, value)
    except (TypeError, AttributeError, ValueError) as error:
        raise _conflict(cls, name, error) from error
    if name not in snapshots.SPECIAL:
        undo.append((_restore, (cls, name, own)))


def _delete(cls: Any, name: str, undo: Undo) -> ClassChange:
    own = vars(cls)[name]
    try:
        class_making.delete_class_attribute(cls, name)
    except (TypeError, AttributeError) as error:
        raise _conflict(cls, name, error) from error
    undo.append((_restore, (cls, name, own)))
    return ClassChange(cls, name, "deleted")


def _put(cls: Any, name: str, value: Any) -> None:
    if name in FACTS:
        type.__setattr__(cls, name, value)
    else:
        class_making.set_class_attribute(cls, name, value)


def _restore(cls: Any, name: str, own: Any) -> None:
    if own is ABSENT:
        class_making.delete_class_attribute(cls, name)
    else:
        _put(cls, name, own)


def _conflict(cls: Any, name: str, error: Exception) -> Exception:
    from waybill._api.errors import refusal

    return refusal(
        "class_conflict",
        f"{fact(cls, '__qualname__')} cannot get the {name} that its sender has given "
        f"it: {error}; send another class, or restart this process",
    )


def take_note(arrival: ArrivedClass) -> list[object]:
    """Makes what a payload said the baseline; answers what is to be dropped."""
    old = TABLE.of(arrival.identity, arrival.cls)
    words, facts, members = arrival.words, arrival.facts, arrival.members
    is_other = old is None
    if members is None:
        members = old.members if old is not None else frozenset()
    elif old is not None:
        is_other |= members != old.members
    if words is None and old is not None:
        words, facts = old.words, old.facts
    elif words is not None:
        before = (old.words if old is not None else None) or {}
        is_other |= before.keys() != words.keys()
        # What is said again is kept as it was said first: its value is in use.
        words = dict(words)
        for name in words:
            word, last = words[name], before.get(name)
            # Methods are objects of their own each time, which is seen without this.
            if word is last or word.kind is Kind.METHOD:
                continue
            words[name] = snapshots.kept(word, last)
            is_other |= words[name] is not last
    if old is not None and facts is not old.facts:
        is_other |= not are_same_facts(old.facts, facts)
    baseline = Baseline(arrival.cls, words, facts, members, arrival.size)
    return TABLE.put(arrival.identity, baseline, is_other)
