"""What is known of code objects while they live, by address: they compare by value.

Whoever receives source beside code that runs here loads this module and shown.py, and
no other of this package. Tested by tests/python/source/test_nested_units.py.
"""

from __future__ import annotations

from types import CodeType

from waybill._classes.identity import reference_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeVar
    from weakref import ref

    _Known = TypeVar("_Known", bound=tuple[Any, ...])


def note(table: dict[int, _Known], code: CodeType, *known: Any) -> None:
    """Puts what is known into a table, behind a weak reference to the code, with which
    it goes."""
    entry: Any = reference_from(code, (table, id(code))), *known
    table[id(code)] = entry


def noted(table: dict[int, _Known], code: CodeType) -> _Known | None:
    """The entry of a code object; None if it has none."""
    entry = table.get(id(code))
    return entry if entry is not None and entry[0]() is code else None


#: Code that came with source: the fields of its unit, and the line where it begins.
CAME: dict[int, tuple[ref[CodeType], tuple[Any, ...], int]] = {}

#: Code in code that came with source: the fields of the unit of what is around it, and
#: the line of that.
AROUND: dict[int, tuple[ref[CodeType], tuple[Any, ...], int]] = {}


def note_source(unit: tuple[Any, ...], code: CodeType, first_line: int) -> None:
    """Remembers what a code object came from, and the code in it."""
    note(CAME, code, unit, first_line)
    for inner in codes_in(code):
        if inner is not code:
            note(AROUND, inner, unit, max(1, first_line))


def came_with_source(code: CodeType) -> bool:
    """Whether a code object, or one that it stands in, did. The extension asks where it
    can put nothing on code."""
    return noted(CAME, code) is not None or noted(AROUND, code) is not None


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code object and all that it holds."""
    todo = [code]
    while todo:
        code = todo.pop()
        yield code
        todo += [k for k in code.co_consts if type(k) is CodeType]
