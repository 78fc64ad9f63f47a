"""Units of live code objects, proven by compiling them.

A unit whose compilation differs from the code in anything is none: the file may have
changed, or the code. Nothing is guessed.

Tested by tests/python/source/test_proving.py.
"""

from __future__ import annotations

import sys
from types import CodeType
from weakref import ref

from waybill._source import comparing, files
from waybill._source.compiling import FEATURES, compile_unit
from waybill._source.units import (
    CO_FUNCTION,
    CO_ITERABLE_COROUTINE,
    CO_NESTED,
    DEF,
    IN_CLASS,
    ITERABLE_COROUTINE,
    LAMBDA,
    NAMES_SUPER,
    NESTED,
    Unit,
    UnitError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from waybill._source.files import Source
    from waybill._source.index import Index, Place

#: Code without a unit, by address: code objects compare by value. With each, what was
#: read and why there is none; that is true while nothing else is read.
_refused: dict[int, tuple[ref[CodeType], Source, str]] = {}
_MAX_REFUSED = 8192

_FEATURES = {name: flag for name, flag in FEATURES.items() if flag}


def prove(code: CodeType, owner: type | None = None) -> Unit | str:
    """The unit that compiles to a code object with this Python; else a clause that says
    why there is none.

    All is the same but the name of the file; columns too, where they can be had.
    ``owner`` is the class that has the function, if one is known. The cost is one
    compilation, once the file is parsed; where there is no unit, one look at the file.
    """
    source = files.source_of(code)
    if isinstance(source, str):
        return source
    known = _refused.get(id(code))
    if known is not None and known[0]() is code and known[1] is source:
        return known[2]
    found = _prove_in(source, code)
    if isinstance(found, str):
        _refuse(code, source, found)
    return found


def _refuse(code: CodeType, source: Source, reason: str) -> None:
    place = id(code)
    if len(_refused) >= _MAX_REFUSED:
        _refused.clear()

    def forget(dead: ref[CodeType]) -> None:
        kept = _refused.get(place)
        if kept is not None and kept[0] is dead:
            del _refused[place]

    _refused[place] = ref(code, forget), source, reason


def _prove_in(source: Source, code: CodeType) -> Unit | str:
    index = source.index
    assert index is not None
    if code.co_flags & CO_FUNCTION != CO_FUNCTION:
        return "it is no function's"
    line = code.co_firstlineno
    places = index.places.get((code.co_name, line), ())
    if not places:
        return f"{source.name} has no such function at line {line}, or not any more"
    if len(places) > 1:
        places = _with_columns(code, places)
    without_columns = None
    for level in _levels():
        for place in places:
            unit = _unit_at(source, index, place, code, level)
            try:
                made = compile_unit(unit, source.name, line)
            except (SyntaxError, UnitError, ValueError):
                continue
            if not comparing.is_same(made, code):
                continue
            if made.co_linetable == code.co_linetable:
                return unit
            if without_columns is None and comparing.has_same_lines(made, code):
                without_columns = unit
        if without_columns is not None:
            return without_columns
    return (
        f"it is not what {source.name} has at line {line}: the file has changed "
        "since, or something has replaced the code"
    )


def _levels() -> tuple[int, ...]:
    """Levels of -O, the most likely one first."""
    own = min(sys.flags.optimize, 2)
    return (own, *(level for level in (0, 1, 2) if level != own))


def _with_columns(code: CodeType, places: list[Place]) -> list[Place]:
    """Those of some lambdas on a line in which the code stands, if columns are told."""
    spots = [p for p in code.co_positions() if None not in p]
    if not spots:
        return places
    line, _, column, _ = spots[-1]
    return [
        place
        for place in places
        if (place.line, place.column)
        <= (line or 0, column or 0)
        < (place.end_line, place.end_column)
    ] or places


def _unit_at(
    source: Source, index: Index, place: Place, code: CodeType, level: int
) -> Unit:
    """What the unit is if the code comes from a place."""
    text = _text_at(source, place)
    names = _names_of(code)
    flags = 0
    scope = place.scope
    is_nested = code.co_flags & CO_NESTED if place.is_lambda else scope.nested
    own_class = scope.class_name
    if own_class is not None and not (
        scope.in_class or "__class__" in code.co_freevars or "__" in text
    ):
        own_class = None
    if scope.in_class:
        flags |= IN_CLASS
    if is_nested:
        flags |= NESTED
    if index.names_super and "super" in names:
        flags |= NAMES_SUPER
    if code.co_flags & CO_ITERABLE_COROUTINE:
        flags |= ITERABLE_COROUTINE
    return Unit(
        kind=LAMBDA if place.is_lambda else DEF,
        text=text,
        name=code.co_name,
        qualified_name=code.co_qualname,
        class_name=own_class,
        flags=flags,
        optimization=level,
        lines=0 if place.is_lambda else place.line - code.co_firstlineno,
        column=place.column if place.is_lambda else 0,
        futures=tuple(n for n, flag in _FEATURES.items() if code.co_flags & flag),
        free_names=code.co_freevars,
        imports=tuple(sorted(names & index.imports)),
    )


def _text_at(source: Source, place: Place) -> str:
    lines = source.lines(place.line, place.end_line)
    if not place.is_lambda:
        return lines
    if lines.isascii():
        start, end = place.column, place.end_column
        last = lines.rfind("\n") + 1
        return lines[start : last + end]
    data = lines.encode()
    last = data.rfind(b"\n") + 1
    return data[place.column : last + place.end_column].decode()


def _names_of(code: CodeType) -> set[str]:
    """All names in a code object and in those that it holds."""
    names: set[str] = set()
    todo = [code]
    while todo:
        code = todo.pop()
        names.update(code.co_names, code.co_varnames, code.co_freevars)
        names.update(code.co_cellvars)
        todo += [k for k in code.co_consts if type(k) is CodeType]
    return names
