"""What a payload says of one attribute, in a form that can be compared with the next.

Compared are marks: content hashes as ``waybill.fingerprint`` takes them, but with
classes by value as their ids. So no ``__eq__`` or ``__hash__`` of a program runs. Text
and numbers are their own marks.
Tested by tests/python/classes/test_class_state.py.
"""

from __future__ import annotations

import sys
import types
from _collections import OrderedDict, defaultdict

from waybill import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Kind:
    """How an attribute is merged."""

    #: Functions, and classmethods and the like around them: always those that came.
    METHOD = "method"
    #: Dicts and sets whose keys or items compare by value: merged one by one.
    KEYED = "keyed"
    #: All else: replaced if the sender changed it.
    WHOLE = "whole"


#: Stands for what is not there.
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()

_PLAIN = frozenset({type(None), bool, int, str, bytes})
_KEYED = frozenset({dict, set, OrderedDict, defaultdict})
_DEEPEST_KEY = 8
#: Under which classmethods, properties and the like have their functions.
_WRAPPED = "__func__", "fget", "fset", "fdel", "func"
#: What class_parts tells under the name of something else that the class has.
SPECIAL = frozenset({"_abc_impl", "_member_map_", "__mapper__"})

is_method = _core.is_method


def is_dunder(name: str) -> bool:
    return len(name) > 4 and name[:2] == name[-2:] == "__"


#: Marks of objects that are met again and again, by address: while all of them are held
#: and none changes.
Marked = dict[int, object]


def mark(value: Any, marked: Marked | None = None) -> Any:
    """What is equal for equal values, and can be compared without code of theirs.

    The cost is that of all that the value reaches.
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind is float:
        return kind, value.hex()
    if marked is None:
        return _core.content_hash(value, True, True)
    found = marked.get(id(value))
    if found is None:
        found = marked[id(value)] = _core.content_hash(value, True, True)
    return found


def method_mark(value: Any) -> Any:
    """A mark of a method alone, without the globals that its functions reach."""
    if isinstance(value, types.FunctionType):
        cells = []
        for cell in value.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # It is empty.
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


def _came(value: Any, settled: Settled | None) -> Any:
    return settled.get(id(value), (None, value))[1] if settled else value


#: Objects that stand in a payload for others, by address, each with what came in fact.
Settled = dict[int, tuple[object, object]]


class Word:
    """What was said of one attribute."""

    __slots__ = (
        "entries",
        "factory",
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
        settled: Settled | None = None,
        marked: Marked | None = None,
    ) -> None:
        self.kind, self.value = kind, value
        if kind is Kind.METHOD:
            return
        if settled:
            value = _came(value, settled)
        self.type = type(value)
        self.entries: Any = None
        self.marks: dict[Any, Any] = {}
        self.mark = self.factory = None
        self.make_default: Any = None
        if kind is Kind.WHOLE:
            self.mark = mark(value, marked)
        elif kind is Kind.KEYED and self.type is set:
            self.entries = dict.fromkeys(value)
        elif kind is Kind.KEYED:
            self.entries = dict(value)
            for key in self.entries:
                entry = self.entries[key]
                if type(entry) not in _PLAIN:
                    self.marks[key] = mark(_came(entry, settled), marked)
            if self.type is defaultdict:
                self.make_default = value.default_factory
                self.factory = mark(self.make_default)

    def is_of_kind(self, other: Word) -> bool:
        return self.kind is other.kind and (
            self.kind is not Kind.KEYED or self.type is other.type
        )

    def is_same(self, other: Word) -> bool:
        """Whether both say the same."""
        if not self.is_of_kind(other):
            return False
        if self.kind is Kind.METHOD:
            return bool(method_mark(self.value) == method_mark(other.value))
        if self.kind is not Kind.KEYED:  # LOST is the same as itself.
            return bool(self.mark == other.mark)
        if self.factory != other.factory or len(self.entries) != len(other.entries):
            return False
        if self.type is set:
            return bool(self.entries.keys() == other.entries.keys())
        if list(self.entries) != list(other.entries):
            return False
        is_same: bool = True
        for key in other.entries:
            is_same = is_same and self._is_same_entry(other, key)
        return is_same

    def _is_same_entry(self, other: Word, key: Any) -> bool:
        if key not in self.entries:
            return False
        mine, theirs = self.entries[key], other.entries[key]
        if type(mine) is not type(theirs):
            return False
        if type(mine) in _PLAIN:
            return bool(mine == theirs)
        return bool(self.marks[key] == other.marks[key])

    def has_entry(self, key: Any, value: Any) -> bool:
        """Whether this, of a dict, says `value` of a key."""
        if self.kind is not Kind.KEYED or self.type is set or key not in self.entries:
            return False
        mine = self.entries[key]
        if type(mine) in _PLAIN:
            return type(mine) is type(value) and bool(mine == value)
        return bool(self.marks[key] == mark(value))

    def is_now(self, value: Any) -> bool:
        """Whether an attribute of this process is still what was said."""
        if self.kind is Kind.METHOD:
            return value is self.value
        if type(value) is not self.type:
            return False
        if self.kind is Kind.WHOLE and self.type in _PLAIN:
            return bool(value == self.value)
        return self.is_same(Word(self.kind, value))

    def told(self) -> list[Any] | None:
        """The value again, in a list; None if that is gone."""
        if self.kind is Kind.METHOD:
            return [self.value]
        value = self.value
        if self.kind is Kind.KEYED and self.type is defaultdict:
            value = defaultdict(self.make_default, self.entries)
        elif self.kind is Kind.KEYED:
            value = self.type(self.entries)
        try:
            _core.content_hash(value, False, True)
        except Exception:  # It cannot travel.
            return None
        return [value] if self.is_same(Word(self.kind, value)) else None

    def stands_for(self, own: Any) -> bool:
        """Whether it was made in the place of something that cannot travel, as `own`
        was."""
        if type(own) is not self.type or self.type in _PLAIN:
            return False
        try:
            _core.content_hash(self.value, False, True)
        except Exception:
            return True
        return False

    def patch_of(self, base: Word | None, own: Any) -> Patch | None:
        """How to change a dict or set of this process; None if it stays."""
        patch = Patch(self, base, own)
        return patch if patch.is_needed else None


def word(
    name: str,
    value: Any,
    settled: Settled | None = None,
    marked: Marked | None = None,
    last: Word | None = None,
) -> Word:
    """What a payload says by giving an attribute this value.

    That is ``last``, what was said before, if it is plain and the same.
    """
    came = _came(value, settled) if settled else value
    if is_method(came):
        return Word(Kind.METHOD, value)
    is_plain = type(came) in _PLAIN and last is not LOST
    if last is not None and is_plain and last.is_now(came):
        return last
    is_keyed = type(came) in _KEYED and name not in SPECIAL and not is_dunder(name)
    if is_keyed and all(map(_is_key, list(came))):
        return Word(Kind.KEYED, value, settled, marked)
    return Word(Kind.WHOLE, value, settled, marked)


#: What was said, and nobody here knows any more.
LOST = Word("lost", None)


def kept(word: Word, before: Word | None) -> Word:
    """The word to keep of what was said now and before, with no object too many."""
    if word is LOST:
        return before or word
    if word.kind is Kind.METHOD:
        return word
    if before is not None and before.is_same(word):
        return before
    if word.kind is Kind.KEYED:
        word.value = None  # Its entries are enough.
    elif word.type in (list, dict):
        word.value = word.value.copy()  # The object itself is in use and may change.
    return word


def of_module(module: types.ModuleType, marked: Marked) -> dict[str, Word]:
    """What a payload says of a module that came by value."""
    namespace, found = vars(module), {}
    for name in list(namespace):
        if not is_dunder(name):
            found[name] = word(name, namespace[name], None, marked)
    return found


def _is_key(key: Any, depth: int = 0) -> bool:
    """Whether a key compares by value, and without code of a program."""
    kind = type(key)
    if kind in _PLAIN:
        return True
    if kind in (float, complex):
        return bool(key == key)
    if kind in (tuple, frozenset):
        depths = [depth + 1] * len(key)
        return depth < _DEEPEST_KEY and all(map(_is_key, key, depths))
    if isinstance(key, type):
        return _is_usual(kind, type)
    enum = sys.modules.get("enum")
    # Another thread may be about to import it.
    if enum is None or not issubclass(type(kind), getattr(enum, "EnumMeta", ())):
        return False
    return _is_usual(kind, enum.Enum)


def _is_usual(kind: type, usual: type) -> bool:
    """Whether a type compares and hashes as `usual` does, or as a type in C does."""
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
    """Changes of a dict or set of this process: three ways, by key.

    Added and changed keys are the sender's, keys that it dropped are deleted, keys of
    this process stay, after the sender's in order.
    """

    def __init__(self, word: Word, base: Word | None, own: Any) -> None:
        before = base.entries if base is not None else {}
        self._own_before = own.copy()
        self._set: dict[Any, Any] = {}
        current: Any = set(own) if word.type is set else dict(own)
        for key in word.entries:
            is_said_again = base is not None and base._is_same_entry(word, key)
            is_there = word.type is set and key in current
            if not is_said_again and not is_there:
                self._set[key] = word.entries[key]
        self._gone: list[Any] = []
        for key in before:
            if key not in word.entries and key in current:
                self._gone.append(key)
        self._order: dict[Any, Any] | None = None
        self._factory = ABSENT
        if word.type is defaultdict and (base is None or base.factory != word.factory):
            self._factory = word.make_default
        if word.type is not set:
            self._find_order(word, current, before)
        self._type = word.type

    def _find_order(self, word: Word, current: dict[Any, Any], before: Any) -> None:
        # In the sender's order, then what is of this process alone.
        wanted: dict[Any, Any] = {}
        kept: list[Any] = []
        for key in word.entries:
            if key in self._set or key in current:
                wanted[key] = self._set.get(key, current.get(key))
            if key in before:
                kept.append(key)
        for key in current:
            if key not in wanted and key not in before:
                wanted[key] = current[key]
        simple = dict(current)
        for key in self._gone:
            del simple[key]
        simple.update(self._set)
        is_moved = list(before) != kept
        if list(simple) != list(wanted) and (self._set or self._gone or is_moved):
            self._order = wanted

    @property
    def is_needed(self) -> bool:
        changes = self._set, self._gone, self._order
        return any(changes) or self._factory is not ABSENT

    def run(self, own: Any, undo: list[tuple[Callable[..., object], Any]]) -> None:
        """Changes `own`, and adds to `undo` what takes that back."""
        factory = own.default_factory if self._type is defaultdict else None
        undo.append((self._restore, (own, factory)))
        if self._type is set:
            own.update(self._set)
            own.difference_update(self._gone)
            return
        if self._factory is not ABSENT:
            own.default_factory = self._factory
        if self._order is not None and self._type is dict:
            _core.replace_items(own, self._order)
        elif self._order is not None:
            own.clear()
            own.update(self._order)
        else:
            for key in self._gone:
                own.pop(key, None)
            own.update(self._set)

    def _restore(self, own: Any, factory: Any) -> None:
        own.clear()
        own.update(self._own_before)
        if self._type is defaultdict:
            own.default_factory = factory
