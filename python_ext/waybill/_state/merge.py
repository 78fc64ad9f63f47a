"""Class state: what a payload changes of a class that is here already.

A payload is a patch. Of each class that was received, and of each module by value,
there is a baseline: what the last payload said of each attribute. What a new payload
says otherwise was changed by the sender and is applied; all else stays as this process
has it. Values of this process are never hashed to find that out. The rules are in
docs/class_state.md, and `rules.decide` is their table.

Dicts are walked by key, closures and generators are avoided, and functions with
handlers are short. If memory ends, CPython 3.11 crashes at items(), loses what the
others hold, and hangs in handlers behind instruction 256.
Tested by tests/python/classes/test_class_state.py and its neighbours.
"""

from __future__ import annotations

import sys
import types

from waybill._classes import enumerations
from waybill._classes import making as class_making
from waybill._classes.identity import TRACKER
from waybill._classes.metadata import (
    FACTS,
    are_same_facts,
    as_fact,
    fact,
    own_attribute,
)
from waybill._kinds.derived import has_derived_doc
from waybill._modules.received import ArrivedModules
from waybill._state import snapshots
from waybill._state.baselines import TABLE, Baseline, ClassChange
from waybill._state.received_classes import (
    ArrivedClass,
    RepeatedClass,
    merge_class,
    other_methods,
    take_note,
    word_in,
)
from waybill._state.snapshots import ABSENT, LOST, Kind, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from waybill._state.rules import Undo


class Merge:
    """The classes and modules of one payload; the extension makes one for the first.

    ``resets`` and ``side`` are the options ``reset_classes`` and ``class_state``.
    """

    def __init__(self, resets: bool, side: str | None) -> None:
        self._resets, self._side = resets, side
        self._arrivals: dict[bytes, ArrivedClass] = {}
        self._repeated: list[RepeatedClass] = []
        self._modules: ArrivedModules | None = None
        #: Enumerations, by id, and members that they got for payloads under way.
        self._members: dict[bytes, tuple[Any, list[str]]] = {}
        #: Objects of this process that `settle` gave out, by address, each with what
        #: came in its place.
        self._settled: snapshots.Settled = {}

    def settle(self, identity: bytes, name: str, key: object, value: object) -> object:
        """What a class has, once the payload is merged, where that has ``value``.

        ``key`` is that of an entry of the dict which is the attribute's value, or None.
        """
        cls = TRACKER.find(identity)
        if not isinstance(cls, type) or self._side_of(cls) in ("reset", "sender"):
            return value
        own = own_attribute(cls, name)
        base = word_in(TABLE.of(identity, cls), name)
        is_home = TRACKER.is_home(cls)
        if own is ABSENT:
            return value
        if key is not None:
            if type(own) is not dict or key not in own or snapshots.is_dunder(name):
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
        word = snapshots.word(name, value)
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
        written = sys.modules.get("waybill._source.generated")
        if written is not None:
            attributes = written.finished(cls, attributes)
        is_home = was_here and TRACKER.is_home(cls)
        before = TABLE.of(identity, cls)
        facts = _facts_of(cls, name, bases, namespace, attributes)
        # What is said again is one object with what was said before.
        if before is not None and are_same_facts(before.facts, facts):
            facts = before.facts
        if before is not None and word is Ellipsis and written is None:
            again = self._words_again(cls, before, facts, attributes)
            if again is not None:
                repeated = RepeatedClass(identity, cls, before, again, attributes, size)
                self._repeated.append(repeated)
                return
        state: dict[str, Word] = {}
        if not is_home:
            state = self._words_of(attributes, before)
        words = None if is_home or word is False else state
        if isinstance(word, dict) and words is not None:
            facts = dict(facts)
            words = _home_words(dict(state), word, facts)
        if identity in self._members:
            self._complete_members(identity, attributes)
        members = enumerations.names_in(cls, namespace) if word is Ellipsis else None
        self._arrivals[identity] = ArrivedClass(
            identity,
            cls,
            was_here,
            is_home,
            attributes,
            state,
            words,
            facts,
            members,
            size,
            word,
            before,
        )

    def _words_again(
        self,
        cls: Any,
        before: Baseline,
        facts: dict[str, Any],
        attributes: dict[str, Any],
    ) -> dict[str, Word] | None:
        """The words of the last payload if this one changes no more of a class than its
        methods, as most do; else None."""
        words, own = before.words, vars(cls)
        if (
            words is None
            or words.keys() != attributes.keys()
            or type(cls) is not type
            or TABLE.trace is not None
            or self._resets
            or self._side
            or "__waybill_state__" in own
            or facts is not before.facts
        ):
            return None
        for name in attributes:
            last, value = words[name], attributes[name]
            if last.kind is Kind.METHOD:
                if own.get(name) is not last.value or not snapshots.is_method(value):
                    return None
                continue
            word = snapshots.word(name, value, self._settled, None, last)
            if word is not last and not last.is_same(word):
                return None
        return words

    def _words_of(
        self, attributes: dict[str, Any], before: Baseline | None
    ) -> dict[str, Word]:
        words: dict[str, Word] = {}
        last = (before.words if before is not None else None) or {}
        for name in attributes:
            words[name] = snapshots.word(
                name, attributes[name], self._settled, None, last.get(name)
            )
        return words

    def add_members(self, identity: bytes, cls: Any, namespace: dict[str, Any]) -> None:
        """Makes members of a class that is here already and lacks them, before anything
        of the payload refers to one."""
        if not TRACKER.is_home(cls) and enumerations.makes_enumerations(type(cls)):
            names = TABLE.locked(_begin_members, identity, cls, namespace)
            if names:
                self._members[identity] = cls, names

    def _complete_members(self, identity: bytes, attributes: dict[str, Any]) -> None:
        if "_member_map_" not in attributes:
            return
        cls, names = self._members[identity]
        states, new = attributes["_member_map_"], {}
        for name in names:
            if name in states:
                new[name] = states[name]
        enumerations.set_states(cls, new)

    def add_module(self, module: types.ModuleType, is_part: bool) -> None:
        """One module that came by value, or a part of it."""
        self._modules = self._modules or ArrivedModules()
        self._modules.add(module, is_part)

    def add_imports(self, modules: dict[str, types.ModuleType]) -> None:
        """Modules by value that imports find from now on, by their names."""
        self._modules = self._modules or ArrivedModules()
        self._modules.serve(modules)

    def abandon(self) -> None:
        """Takes back what was done for a payload that failed."""
        if self._modules is not None:
            self._modules.abandon()
        for identity in self._members:
            TABLE.locked(_end_members, identity, *self._members[identity], True)

    def _side_of(self, cls: type) -> str | None:
        if self._resets:
            return "reset"
        side = self._side or vars(cls).get("__waybill_state__")
        return side if side in ("sender", "worker") else None

    def apply(self) -> None:
        """Changes classes and modules, all of them or none, and notes what was said."""
        # Marks may run code of the program, so they are taken without the lock.
        for repeated in self._repeated:
            # Code that ran meanwhile may have loaded another payload of the class.
            if repeated.last() is not repeated.before:
                words = self._words_of(repeated.attributes, repeated.last())
                self._arrivals[repeated.identity] = repeated.arrived(words)
        arrivals = list(self._arrivals.values())
        others = {}
        for arrival in arrivals:
            others[arrival.identity] = other_methods(arrival)
        if self._modules is not None:
            self._modules.take_words()
        undo: Undo = []
        changes, dropped = TABLE.locked(self._merge, arrivals, others, undo)
        del dropped, undo  # What goes may run code of the program.
        # Methods that a library is to write are no changes, and are to be written.
        from_others = "waybill._source.generated" in sys.modules
        if not changes and not from_others:
            return
        changed = {id(change.cls) for change in changes}
        for arrival in arrivals:
            if id(arrival.cls) in changed or (from_others and not arrival.is_home):
                class_making.finish_class(arrival.cls)
        TABLE.tell(changes)

    def _merge(
        self,
        arrivals: list[ArrivedClass],
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
        for repeated in self._repeated:
            dropped += repeated.take_note()
        for arrival in arrivals:
            if not arrival.is_home:
                dropped += take_note(arrival)
        for identity in self._members:
            _end_members(identity, *self._members[identity], False)
        if self._modules is not None:
            dropped += self._modules.take_note()
        return changes, dropped

    def _change_all(
        self,
        arrivals: list[ArrivedClass],
        others: dict[bytes, set[str]],
        undo: Undo,
    ) -> list[ClassChange]:
        changes: list[ClassChange] = []
        for cls, names in self._members.values():
            for name in names:
                changes.append(ClassChange(cls, name, "set"))
        for repeated in self._repeated:
            repeated.replace_methods(undo)
        for arrival in arrivals:
            # Two threads may make one class; who ends first has said what it is.
            is_said = TABLE.of(arrival.identity, arrival.cls) is not None
            if arrival.was_here or is_said:
                side = self._side_of(arrival.cls)
                changes += merge_class(arrival, side, others, undo)
        if self._modules is not None:
            changes += self._modules.change(self._side, undo)
        return changes


def _home_words(
    words: dict[str, Word], told: dict[str, Any], facts: dict[str, Any]
) -> dict[str, Word]:
    """What the home of a class said last, if another process tells it."""
    for name in told:
        said = told[name]
        if not isinstance(said, list):
            words[name] = LOST
        elif not said:
            words.pop(name, None)
        elif name in FACTS:
            facts[name] = tuple(said[0]) if name == "__bases__" else as_fact(said[0])
        else:
            words[name] = snapshots.word(name, said[0])
    return words


def _facts_of(
    cls: Any,
    name: str,
    bases: list[Any],
    namespace: dict[str, Any],
    attributes: dict[str, Any],
) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if not bases:  # It is not made by a class statement, but by a call.
        for key in FACTS:
            facts[key] = fact(cls, key)
        return facts
    facts["__bases__"] = tuple(bases)
    for base in bases:
        if not isinstance(base, type):
            facts["__bases__"] = types.resolve_bases(bases)
            break
    facts["__name__"] = name
    facts["__qualname__"] = namespace.get("__qualname__", name)
    facts["__doc__"] = as_fact(namespace.get("__doc__"))
    if "__doc__" not in namespace and has_derived_doc(attributes):
        facts["__doc__"] = fact(cls, "__doc__")
    return facts


#: Members that payloads under way have brought, by the id of the class and their names:
#: how many such payloads there are, and the attribute that was there before.
_under_way: dict[tuple[bytes, str], list[Any]] = {}


def _begin_members(identity: bytes, cls: Any, namespace: dict[str, Any]) -> list[str]:
    baseline = TABLE.of(identity, cls)
    said = baseline.members if baseline is not None else frozenset()
    added = enumerations.add_members(cls, namespace, said)
    for name in added:
        _under_way[identity, name] = [0, added[name]]
    names = []
    for name in enumerations.values_in(namespace):
        if (identity, name) in _under_way:
            _under_way[identity, name][0] += 1
            names.append(name)
    return names


def _end_members(identity: bytes, cls: Any, names: list[str], has_failed: bool) -> None:
    baseline = TABLE.of(identity, cls)
    said = baseline.members if baseline is not None else ()
    for name in names:
        entry = _under_way[identity, name]
        entry[0] -= 1
        if entry[0] != 0:  # Another payload has it, and may yet arrive.
            continue
        del _under_way[identity, name]
        if has_failed and name not in said:
            enumerations.remove_members(cls, [name])
            if entry[1] is not ABSENT:
                type.__setattr__(cls, name, entry[1])
