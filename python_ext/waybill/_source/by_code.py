"""What is known of code objects while they live, by address: they compare by value.

Tested by tests/python/source/test_nested_units.py.
"""

from __future__ import annotations

from weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, TypeVar

    _Known = TypeVar("_Known", bound=tuple[Any, ...])


def note(table: dict[int, _Known], code: CodeType, *known: Any) -> None:
    """Puts what is known into a table, behind a weak reference to the code, with which
    it goes."""
    address = id(code)

    def forget(dead: ref[CodeType]) -> None:
        entry = table.get(address)
        if entry is not None and entry[0] is dead:
            del table[address]

    entry: Any = ref(code, forget), *known
    table[address] = entry


def noted(table: dict[int, _Known], code: CodeType) -> _Known | None:
    """The entry of a code object; None if it has none."""
    entry = table.get(id(code))
    return entry if entry is not None and entry[0]() is code else None
