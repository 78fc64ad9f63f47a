"""What payloads have said of the classes, and modules by value, that came so far.

It is state and no cache: with it a later payload is told apart from what this process
has changed itself. The table is bounded, and keeps the classes alive, so that their
state does not depend on the garbage collector.
Tested by tests/python/classes/test_class_lifetime.py and test_class_relay.py.
"""

from __future__ import annotations

import itertools
import os
from _thread import RLock
from types import ModuleType

from waybill._api.named_tuples import NamedTuple
from waybill._classes.identity import TRACKER
from waybill._classes.metadata import COMPILER_MADE, fact, is_same_fact
from waybill._state.snapshots import LOST, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _T = TypeVar("_T")


#: A number that changes whenever a payload says something else of a class, by id. The
#: extension compares it.
SERIALS: dict[bytes, int] = {}
#: Ids of classes that were used without a look at the table; the extension adds them.
USES: dict[bytes, None] = {}

#: The bounds of the table, until a process configures others.
MAX_CLASSES, MAX_CLASS_BYTES = 1024, 256 << 20


class ClassChange(NamedTuple):
    """One change that a payload made of a class, or of a module that came by value."""

    cls: Any
    #: The name of the attribute.
    attribute: str
    #: "set", "deleted", or "patched": a dict or set was changed in place.
    action: str


class Baseline(NamedTuple):
    """What the last payload said of a class."""

    cls: Any
    #: By attribute; None if the sender did not know what the home of the class says.
    words: dict[str, Word] | None
    #: Bases, names and text, as `metadata.FACTS` lists them.
    facts: dict[str, Any]
    #: Names of members, if it is an enumeration.
    members: frozenset[str]
    #: How many bytes of the payload the class took.
    size: int


class Table:
    """The baselines of received classes, those used last. For any number of threads."""

    def __init__(self) -> None:
        self.trace: Callable[[ClassChange], object] | None = None
        #: Is raised whenever a payload says something else than the one before, or
        #: the process is configured otherwise.
        self.generation = 0
        #: Of modules by value, by name: what came last, and what was said of it.
        self.modules: dict[str, tuple[ModuleType, dict[str, Word]]] = {}
        self._baselines: dict[bytes, Baseline] = {}
        self._size = 0
        self._max_count, self._max_size = MAX_CLASSES, MAX_CLASS_BYTES
        self._serials = itertools.count(1)
        self.make_lock()

    def make_lock(self) -> None:
        """A new one for forked processes: who held the old one is not in them."""
        self.lock = RLock()

    def locked(self, step: Callable[..., _T], *given: object) -> _T:
        """What `step` answers, called under the lock."""
        with self.lock:
            return step(*given)

    def of(self, identity: bytes, cls: type) -> Baseline | None:
        """The baseline of a class; None if there is none, or it is of another class."""
        baseline = self._baselines.get(identity)
        return baseline if baseline is not None and baseline.cls is cls else None

    def put(self, identity: bytes, baseline: Baseline, is_other: bool) -> list[object]:
        """Keeps a baseline; answers what the caller is to drop once it has no lock.

        ``is_other``: whether the class was told to be another than before.
        """
        old = self._baselines.pop(identity, None)
        self._baselines[identity] = baseline
        self._size += baseline.size - (old.size if old is not None else 0)
        if is_other or identity not in SERIALS:
            SERIALS[identity] = next(self._serials)
            self.generation += 1
        return [old, *self._shrink()]

    def put_module(self, module: ModuleType, words: dict[str, Word]) -> list[object]:
        """The same for a module, of which the table always keeps the last."""
        dropped: list[object] = [self.modules.pop(module.__name__, None)]
        self.modules[module.__name__] = module, words
        self.generation += 1
        while len(self.modules) > self._max_count:
            dropped.append(self.modules.pop(next(iter(self.modules))))
        return dropped

    def bound(self, count: int | None, size: int | None) -> None:
        """Sets the bounds that are given, and keeps them."""
        with self.lock:
            self._max_count = count or self._max_count
            self._max_size = size or self._max_size
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

    def tell(self, changes: list[ClassChange]) -> None:
        """Calls the trace for each of them."""
        if self.trace is not None:
            for change in changes:
                self.trace(change)

    def _shrink(self) -> list[object]:
        dropped: list[object] = []
        while len(self._baselines) > self._max_count or (
            self._size > self._max_size and len(self._baselines) > 1
        ):
            identity = next(iter(self._baselines))
            baseline = self._baselines.pop(identity)
            if identity in USES:  # It was used since it came to the front.
                del USES[identity]
                self._baselines[identity] = baseline
                continue
            SERIALS.pop(identity, None)
            self._size -= baseline.size
            dropped.append(baseline)
        return dropped


#: That of this interpreter.
TABLE = Table()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TABLE.make_lock)


def forget_classes() -> None:
    """Forgets what payloads have said of the classes that this process received.

    Classes that nothing else holds are freed. One that is still there when it arrives
    again gets what the payload carries, and loses nothing.
    """
    TABLE.forget()


def word_of(cls: type, attributes: dict[str, Any]) -> Any:
    """What the home of a received class said last, where the class is another now.

    ``attributes`` is what class_parts tells of it. The answer is the last value of the
    node of the class, as docs/wire_format.md has it: None if there is no difference.
    """
    identity = TRACKER.id_of(cls)
    baseline = TABLE.of(identity, cls)
    if baseline is None or baseline.words is None:
        return None if TRACKER.is_as_first_sent(identity, cls) else False
    words = baseline.words
    found: dict[str, Any] = {}
    for name in attributes:
        word = words.get(name)
        if word is not None and (word is LOST or not word.is_now(attributes[name])):
            found[name] = word.told()
        elif word is None and name not in COMPILER_MADE:
            found[name] = []
    for name in words:
        if name not in attributes and name not in COMPILER_MADE:
            found[name] = words[name].told()
    for name in baseline.facts:
        value = baseline.facts[name]
        value = value.value if isinstance(value, Word) else value
        if not is_same_fact(fact(cls, name), value):
            found[name] = [list(value) if isinstance(value, tuple) else value]
    members = vars(cls).get("_member_map_", ())
    if baseline.members and baseline.members != frozenset(members):
        # Who knows the class has to see that these are not its home's, and leaves them.
        found["_member_map_"] = None
    return found or None
