"""Class state: what a payload changes of a class that is here already.

A payload is a patch. Of each class that was received, and of each module by value,
there is a baseline: what the last payload said of each attribute. What a new payload
says otherwise was changed by the sender and is applied; all else stays as this process
has it. Values of this process are never hashed to find that out. The rules are in
docs/class_state.md, and `_rules.decide` is their table.

Dicts are walked by key, closures and generators are avoided, and functions with
handlers are short. If memory ends, CPython 3.11 crashes at items(), loses what the
others hold, and hangs in handlers behind instruction 256.
Tested by tests/python/classes/test_class_state.py and its neighbours.
"""

from __future__ import annotations

import types

from waybill import _classes, _words
from waybill._arrived_modules import ArrivedModules
from waybill._baselines import TABLE, Baseline, ClassChange
from waybill._facts import (
    COMPILER_MADE,
    FACTS,
    as_fact,
    fact,
    is_same_fact,
    own_attribute,
)
from waybill._identity import TRACKER
from waybill._rules import LEFT, SET, decide
from waybill._words import ABSENT, LOST, Kind, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    from waybill._rules import Undo
else:
    from waybill._records import NamedTuple

#: Attributes that are set once, when a class of ctypes or SQLAlchemy is made.
_MADE_WITH = frozenset({"_fields_", "_anonymous_", "_pack_", "_align_", "__mapper__"})


class _Arrival(NamedTuple):
    """What a payload says of one class."""

    identity: bytes
    cls: Any
    was_here: bool
    #: The state of the class at the sender, as it came, and as words.
    attributes: dict[str, Any]
    state: dict[str, Word]
    #: What the home of the class said last; None if the sender does not know.
    words: dict[str, Word] | None
    facts: dict[str, Any]
    size: int
    #: The last value of the node.
    word: Any


class Merge:
    """The classes and modules of one payload; the extension makes one for the first.

    ``resets`` and ``side`` are the options ``reset_classes`` and ``class_state``.
    """

    def __init__(self, resets: bool, side: str | None) -> None:
        self._resets, self._side = resets, side
        self._arrivals: dict[bytes, _Arrival] = {}
        self._modules = ArrivedModules()
        #: Objects of this process that `settle` gave out, by address, each with what
        #: came in its place.
        self._settled: _words.Settled = {}

    def settle(self, identity: bytes, name: str, key: object, value: object) -> object:
        """What a class has, once the payload is merged, where that has ``value``.

        ``key`` is that of an entry of the dict which is the attribute's value, or None.
        """
        cls = TRACKER.find(identity)
        if not isinstance(cls, type) or self._side_of(cls) in ("reset", "sender"):
            return value
        own = own_attribute(cls, name)
        base = _word_in(TABLE.of(identity, cls), name)
        is_home = TRACKER.is_home(cls)
        if own is ABSENT:
            return value
        if key is not None:
            if type(own) is not dict or key not in own or _words.is_dunder(name):
                return value
            if not is_home and (base is None or not base.has_entry(key, value)):
                return value
            own = own[key]
        elif not is_home and not self._stays(name, value, own, base):
            return value
        if own is not value:
            self._settled[id(own)] = own, value
        return own

    @staticmethod
    def _stays(name: str, value: object, own: object, base: Word | None) -> bool:
        word = _words.word(name, value)
        if word.kind is Kind.METHOD:  # What functions reach is that of their payload.
            return False
        if word.kind is Kind.KEYED and type(own) is word.type:
            return base is None or base.is_of_kind(word)
        return base is not None and base.is_same(word)

    def add(
        self,
        identity: bytes,
        cls: Any,
        was_here: bool,
        name: str,
        bases: list[Any],
        namespace: dict[str, Any],
        attributes: dict[str, Any],
        word: Any,
        size: int,
    ) -> None:
        """One class that is complete but for what a merge changes of it.

        ``word`` is the last value of its node, or Ellipsis: docs/wire_format.md.
        """
        if identity in self._arrivals:  # A node that began again around this one.
            return
        facts: dict[str, Any] = {}
        if not bases:  # It is not made by a class statement, but by a call.
            for key in FACTS:
                facts[key] = fact(cls, key)
        else:
            facts["__bases__"] = tuple(bases)
            if False in [isinstance(base, type) for base in bases]:
                facts["__bases__"] = types.resolve_bases(bases)
            facts["__name__"] = name
            facts["__qualname__"] = namespace.get("__qualname__", name)
            facts["__doc__"] = as_fact(namespace.get("__doc__"))
        state: dict[str, Word] = {}
        words: dict[str, Word] | None = None
        if not (was_here and TRACKER.is_home(cls)):
            for key in attributes:
                state[key] = _words.word(key, attributes[key], self._settled)
            if word is not False:
                words = dict(state)
        if isinstance(word, dict) and words is not None:
            for key in word:
                said = word[key]
                if not isinstance(said, list):
                    words[key] = LOST
                elif not said:
                    words.pop(key, None)
                elif key in FACTS:
                    facts[key] = (
                        tuple(said[0]) if key == "__bases__" else as_fact(said[0])
                    )
                else:
                    words[key] = _words.word(key, said[0])
        self._arrivals[identity] = _Arrival(
            identity, cls, was_here, attributes, state, words, facts, size, word
        )

    def add_module(self, module: types.ModuleType, is_part: bool) -> None:
        """One module that came by value, or a part of it."""
        self._modules.add(module, is_part)

    def add_imports(self, modules: dict[str, types.ModuleType]) -> None:
        """Modules by value that imports find from now on, by their names."""
        self._modules.serve(modules)

    def abandon(self) -> None:
        """Takes back what was done for a payload that failed."""
        self._modules.abandon()

    def _side_of(self, cls: type) -> str | None:
        if self._resets:
            return "reset"
        side = self._side or vars(cls).get("__waybill_state__")
        return side if side in ("sender", "worker") else None

    def apply(self) -> None:
        """Changes classes and modules, all of them or none, and notes what was said."""
        # Marks may run code of the program, so they are taken without the lock.
        arrivals = list(self._arrivals.values())
        others = {}
        for arrival in arrivals:
            others[arrival.identity] = _other_methods(arrival)
        self._modules.take_words()
        undo: Undo = []
        changes, dropped = TABLE.locked(self._merge, arrivals, others, undo)
        del dropped, undo  # What goes may run code of the program.
        changed = {id(change.cls) for change in changes}
        for arrival in arrivals:
            if id(arrival.cls) in changed:
                _classes.finish_class(arrival.cls)
        TABLE.tell(changes)

    def _merge(
        self,
        arrivals: list[_Arrival],
        others: dict[bytes, set[str]],
        undo: Undo,
    ) -> tuple[list[ClassChange], list[object]]:
        try:
            changes = self._change_all(arrivals, others, undo)
        except BaseException:
            for take_back, given in reversed(undo):
                take_back(*given)
            raise
        dropped: list[object] = []
        for arrival in arrivals:
            if not TRACKER.is_home(arrival.cls):
                dropped += _take_note(arrival)
        dropped += self._modules.take_note()
        return changes, dropped

    def _change_all(
        self,
        arrivals: list[_Arrival],
        others: dict[bytes, set[str]],
        undo: Undo,
    ) -> list[ClassChange]:
        changes: list[ClassChange] = []
        for arrival in arrivals:
            if arrival.was_here:
                side = self._side_of(arrival.cls)
                changes += _change(arrival, side, others, undo)
        return changes + self._modules.change(self._side, undo)


def _word_in(baseline: Baseline | None, name: str) -> Word | None:
    if baseline is None or baseline.words is None:
        return None
    return baseline.words.get(name)


def _other_methods(arrival: _Arrival) -> set[str]:
    """Methods that the sender has changed, of those in whose place this process has put
    something; of all methods, if somebody wants to know."""
    baseline = TABLE.of(arrival.identity, arrival.cls)
    found = set()
    words = arrival.words or {}
    for name in words:
        word, base = words[name], _word_in(baseline, name)
        if base is None or word.kind is not Kind.METHOD:
            continue
        is_own = own_attribute(arrival.cls, name) is not base.value
        if (is_own or TABLE.trace is not None) and not base.is_same(word):
            found.add(name)
    return found


# ---- Classes


def _change(
    arrival: _Arrival,
    side: str | None,
    others: dict[bytes, set[str]],
    undo: Undo,
) -> list[ClassChange]:
    """Merges what a payload says into a class that was here."""
    cls = arrival.cls
    if TRACKER.is_home(cls):
        found = arrival.attributes if side == "reset" else _edited(arrival)
        changes = []
        for name in found:
            changes.append(_set(cls, name, found[name], undo))
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
    for name in said:
        word = said[name]
        own, base = own_attribute(cls, name), _word_in(baseline, name)
        if word is LOST or (name in _MADE_WITH and own is not ABSENT and base is None):
            continue
        change = decide(word, own, base, side, name in other, baseline is not None)
        if change is SET and own is not word.value:
            done = _set(cls, name, word.value, undo)
            # A method that is what it was is of this payload all the same.
            if base is None or word.kind is not Kind.METHOD or name in other:
                changes.append(done)
        elif change not in (SET, LEFT):
            change.run(own, undo)
            changes.append(ClassChange(cls, name, "patched"))
    gone: list[str] = []
    if side == "sender":
        gone = list(_classes.class_parts(cls)[4])
    elif side is None and baseline is not None:
        gone = list(baseline.words or ())
    for name in gone:
        if name not in said and name not in COMPILER_MADE and name in vars(cls):
            changes.append(_delete(cls, name, undo))
    return changes


def _change_facts(
    arrival: _Arrival, baseline: Baseline | None, side: str | None, undo: Undo
) -> list[ClassChange]:
    changes: list[ClassChange] = []
    for name in FACTS if side != "worker" else ():
        value = arrival.facts[name]
        before = baseline.facts[name] if baseline is not None else ABSENT
        if side is None and is_same_fact(before, value):
            continue
        own = fact(arrival.cls, name)
        value = value.value if isinstance(value, Word) else value
        if not is_same_fact(own, value):
            changes.append(_set(arrival.cls, name, value, undo, own))
    return changes


def _edited(arrival: _Arrival) -> dict[str, Any]:
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
        if False in map(_words.is_method, (own, value, said[0])):
            continue
        if not has_other_code(own, said[0]) and has_other_code(own, value):
            found[name] = value
    return found


def _set(cls: Any, name: str, value: Any, undo: Undo, own: Any = ABSENT) -> ClassChange:
    if own is ABSENT:
        own = own_attribute(cls, name)
    try:
        _put(cls, name, value)
    except (TypeError, AttributeError, ValueError) as error:
        raise _conflict(cls, name, error) from error
    if name not in _words.SPECIAL:
        undo.append((_restore, (cls, name, own)))
    return ClassChange(cls, name, "set")


def _delete(cls: Any, name: str, undo: Undo) -> ClassChange:
    own = vars(cls)[name]
    try:
        _classes.delete_class_attribute(cls, name)
    except (TypeError, AttributeError) as error:
        raise _conflict(cls, name, error) from error
    undo.append((_restore, (cls, name, own)))
    return ClassChange(cls, name, "deleted")


def _put(cls: Any, name: str, value: Any) -> None:
    if name in FACTS:
        type.__setattr__(cls, name, value)
    else:
        _classes.set_class_attribute(cls, name, value)


def _restore(cls: Any, name: str, own: Any) -> None:
    if own is ABSENT:
        _classes.delete_class_attribute(cls, name)
    else:
        _put(cls, name, own)


def _conflict(cls: Any, name: str, error: Exception) -> Exception:
    from waybill._errors import DecodeError

    conflict = DecodeError(
        f"class_conflict: {fact(cls, '__qualname__')} cannot get the {name} that its "
        f"sender has given it: {error}; send another class, or restart this process"
    )
    conflict.code = "class_conflict"
    return conflict


def _take_note(arrival: _Arrival) -> list[object]:
    """Makes what a payload said the baseline; answers what is to be dropped."""
    old = TABLE.of(arrival.identity, arrival.cls)
    words, facts = arrival.words, arrival.facts
    is_other = old is None
    if words is None and old is not None:
        words, facts = old.words, old.facts
    elif words is not None:
        before = (old.words if old is not None else None) or {}
        is_other |= before.keys() != words.keys()
        # What is said again is kept as it was said first: its value is in use.
        words = dict(words)
        for name in words:
            words[name] = _words.kept(words[name], before.get(name))
            # Methods are objects of their own each time, which is seen without this.
            is_method = words[name].kind is Kind.METHOD
            is_other |= words[name] is not before.get(name) and not is_method
    if old is not None:
        for name in FACTS:
            is_other = is_other or not is_same_fact(old.facts[name], facts[name])
    baseline = Baseline(arrival.cls, words, facts, arrival.size)
    return TABLE.put(arrival.identity, baseline, is_other)
