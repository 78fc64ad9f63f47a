"""Weak tables of code objects by identity; code objects themselves compare by value.

A receiver that runs the bytecode, and gets source beside it, loads only this module and
shown.py of this package. Tested by tests/python/source/test_nested_units.py.
"""

from __future__ import annotations

from types import CodeType

from waybill._classes.identity import find_entry, reference_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any
    from weakref import ref


def record(table: dict[int, Any], code: CodeType, *values: Any) -> None:
    """Adds (weak reference to ``code``, *values) to a table until the code dies."""
    entry: Any = reference_from(code, (table, id(code))), *values
    table[id(code)] = entry


#: Code received with source: the fields of its unit, and its first line.
RECEIVED: dict[int, tuple[ref[CodeType], tuple[Any, ...], int]] = {}

#: Code nested in such code: the fields and the first line of the enclosing unit.
ENCLOSING: dict[int, tuple[ref[CodeType], tuple[Any, ...], int]] = {}


def record_source(unit: tuple[Any, ...], code: CodeType, first_line: int) -> None:
    """Records the unit of a received code object, also for the code nested in it."""
    record(RECEIVED, code, unit, first_line)
    for inner in codes_in(code):
        if inner is not code:
            record(ENCLOSING, inner, unit, max(1, first_line))


def is_from_source(code: CodeType) -> bool:
    """Whether a code object, or one around it, was received with source. The extension
    calls this where it cannot attach data to code objects."""
    is_received = find_entry(RECEIVED, code) is not None
    return is_received or find_entry(ENCLOSING, code) is not None


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code object and all code objects nested in it, at any depth."""
    todo = [code]
    while todo:
        code = todo.pop()
        yield code
        todo += [k for k in code.co_consts if type(k) is CodeType]
