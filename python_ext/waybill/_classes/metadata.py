"""What a class is, told without code of its metaclass.

Tested by tests/python/classes/test_class_values.py.
"""

from __future__ import annotations

from _operator import is_

from waybill._state.snapshots import ABSENT, Kind, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: What the compiler puts into a class: absence is no deletion.
COMPILER_MADE = frozenset(
    {"__static_attributes__", "__firstlineno__", "__annotations_cache__"}
)
#: What a class is beside its attributes. Bases come first, since they may be refused.
FACTS = ("__bases__", "__name__", "__qualname__", "__doc__")


def own_attribute(cls: type, name: str) -> Any:
    """What a class itself has under a name that a payload gives to an attribute."""
    own = vars(cls).get(name, ABSENT)
    if own is ABSENT and name in ("__annotate__", "__annotations__"):
        deferred = "__annotate_func__", "__annotations_cache__"
        return vars(cls).get(deferred[name == "__annotations__"], ABSENT)
    return own


def fact(cls: type, name: str) -> Any:
    """One of the FACTS of a class, whatever its metaclass would answer."""
    if name == "__doc__":
        return vars(cls).get(name)
    return vars(type)[name].__get__(cls)


def as_fact(value: Any) -> Any:
    """A doc: text, or what else a program puts there, in a form to be compared."""
    return value if value is None or type(value) is str else Word(Kind.WHOLE, value)


def is_same_fact(own: Any, value: Any) -> bool:
    """Whether two are the same, without code of theirs."""
    if own is value:
        return True
    if type(own) is not type(value):
        return False
    if type(own) is tuple:
        return len(own) == len(value) and all(map(is_, own, value))
    if type(own) is Word:
        return own.is_same(value)
    return type(own) is str and bool(own == value)


def are_same_facts(own: dict[str, Any], value: dict[str, Any]) -> bool:
    """The same of all FACTS of a class."""
    for name in FACTS:  # noqa: SIM110 - see _state/merge.py.
        if not is_same_fact(own[name], value[name]):
            return False
    return True
