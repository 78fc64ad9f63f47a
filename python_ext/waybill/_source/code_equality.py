"""Equality of code objects, apart from their file names.

``==`` does not serve: it ignores qualified names and kinds of variables, and in some
versions compares state that the interpreter writes into running code. Tested by
tests/python/source/test_proving.py.
"""

from __future__ import annotations

from operator import attrgetter
from types import CodeType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_fields = attrgetter(
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_flags",
    "co_name",
    "co_qualname",
    "co_names",
    "co_varnames",
    "co_cellvars",
    "co_freevars",
    "co_stacksize",
    "co_exceptiontable",
    "co_code",
)


def is_same(one: CodeType, other: CodeType) -> bool:
    """Whether two code objects are equal except for file and positions."""
    if _fields(one) != _fields(other):
        return False
    mine, theirs = one.co_consts, other.co_consts
    return len(mine) == len(theirs) and all(map(_is_same_constant, mine, theirs))


def has_same_columns(one: CodeType, other: CodeType) -> bool:
    """Whether two equal code objects have the same lines and columns."""
    return all(
        a.co_linetable == b.co_linetable and a.co_firstlineno == b.co_firstlineno
        for a, b in _pairs(one, other)
    )


def has_same_lines(one: CodeType, other: CodeType) -> bool:
    """Whether two equal code objects have the same lines."""
    return all(list(a.co_lines()) == list(b.co_lines()) for a, b in _pairs(one, other))


def _pairs(one: CodeType, other: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    todo = [(one, other)]
    while todo:
        one, other = todo.pop()
        yield one, other
        pairs = zip(one.co_consts, other.co_consts, strict=True)
        todo += [pair for pair in pairs if type(pair[0]) is CodeType]


def has_columns(code: CodeType) -> bool:
    """Whether a code object has columns: ``-X no_debug_ranges`` leaves them out."""
    return any(position[2] is not None for position in code.co_positions())


def _is_same_constant(one: Any, other: Any) -> bool:
    """Types and signs of zeros are compared; the order of sets is not."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is CodeType:
        return is_same(one, other)
    if kind is tuple:
        return len(one) == len(other) and all(map(_is_same_constant, one, other))
    if kind is frozenset or kind is slice:
        return bool(_key(one) == _key(other))
    if kind is float or kind is complex:
        return repr(one) == repr(other)
    return one is other or bool(one == other)


def _key(constant: Any) -> Any:
    kind = type(constant)
    if kind is tuple:
        return kind, tuple(map(_key, constant))
    if kind is frozenset:
        return kind, frozenset(map(_key, constant))
    if kind is float or kind is complex:
        return kind, repr(constant)
    if kind is slice:
        return kind, *map(_key, (constant.start, constant.stop, constant.step))
    return kind, constant
