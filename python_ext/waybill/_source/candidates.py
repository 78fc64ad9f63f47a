"""Units that a code object may come from, found by name and line in its file.

proving.py decides which of them compiles to the code object. Tested by
tests/python/source/test_proving.py and tests/python/source/test_annotate.py.
"""

from __future__ import annotations

from waybill._source import units
from waybill._source.by_code import codes_in
from waybill._source.compiling import FEATURES
from waybill._source.index import DEFERRED
from waybill._source.units import Unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

    from waybill._source.files import Source
    from waybill._source.index import AnnotatedDefinition, Index, Place, Scope

ANNOTATE_NAME = "__annotate__"
_FEATURES = {name: flag for name, flag in FEATURES.items() if flag}


def find_candidates(source: Source, index: Index, code: CodeType) -> list[Unit]:
    """The units that may compile to a code object, all with optimization level 0."""
    line = code.co_firstlineno
    places = index.places.get((code.co_name, line), [])
    if len(places) > 1:
        places = _select_by_column(code, places)
    found = [_function_unit(source, index, place, code) for place in places]
    if DEFERRED and code.co_name == ANNOTATE_NAME:
        for annotated in index.annotated.get(line, ()):
            if annotated.pieces:
                found.append(_class_annotations_unit(source, index, annotated, code))
            else:
                found.append(_annotations_unit(source, index, annotated, code))
    return found


def _select_by_column(code: CodeType, places: list[Place]) -> list[Place]:
    """The lambdas of a line that contain the code's columns; all if it has none."""
    spots = [p for p in code.co_positions() if None not in p]
    if not spots:
        return places
    line, _, column, _ = spots[-1]
    spot = line or 0, column or 0
    return [
        place
        for place in places
        if (place.line, place.column) <= spot < (place.end_line, place.end_column)
    ] or places


def _function_unit(source: Source, index: Index, place: Place, code: CodeType) -> Unit:
    scope = place.scope
    if not place.is_lambda:
        text = source.lines(place.line, place.end_line)
        unit = _make_unit(index, units.DEF, text, scope, code)
        return unit._replace(decorator_lines=place.line - code.co_firstlineno)
    text = source.slice(place.line, place.column, place.end_line, place.end_column)
    # Versions differ in the scopes around expressions, so ask the code object.
    nested = bool(code.co_flags & units.CO_NESTED)
    unit = _make_unit(index, units.LAMBDA, text, scope._replace(is_nested=nested), code)
    return unit._replace(column=place.column)


def _annotations_unit(
    source: Source, index: Index, annotated: AnnotatedDefinition, code: CodeType
) -> Unit:
    """A unit of the header of a function, with ``pass`` for a body."""
    place = annotated.place
    header = source.slice(place.line, 0, place.end_line, place.end_column)
    unit = _make_unit(index, units.ANNOTATE, f"{header}pass", place.scope, code)
    return unit._replace(
        qualified_name=qualified_by_function(unit.qualified_name, annotated.name)
    )


def _class_annotations_unit(
    source: Source, index: Index, annotated: AnnotatedDefinition, code: CodeType
) -> Unit:
    """A unit of the body of a class reduced to its annotated names.

    Each ``name: annotation`` keeps its line and column, and follows ``if _:`` if it is
    in a conditional block. The text begins below the first line of the class; for a
    class on one line it begins on that line, at ``unit.column``.
    """
    place, pieces = annotated.place, annotated.pieces
    is_one_line = pieces[0][0] == place.line
    next_line = place.line if is_one_line else place.line + 1
    next_column = 0
    parts: list[str] = []
    for piece in pieces:
        line, column, end_line, end_column, value_line, value_column, is_inner = piece
        if line == next_line and next_column:
            parts.append(";" + " " * (column - next_column - 1))
        else:
            # Annotations in blocks get the same indent as the others.
            indent = 0 if is_one_line and line == next_line else place.column
            parts.append("\n" * (line - next_line) + " " * indent)
            parts.append("if _: " if is_inner else "")
        parts.append(source.slice(line, column, end_line, end_column))
        between = source.slice(end_line, end_column, value_line, value_column)
        closing = between.partition("=")[0].rstrip()
        parts.append(closing)
        next_line = end_line + closing.count("\n")
        next_column = end_column + len(closing.encode()) if "\n" not in closing else 1
    unit = _make_unit(index, units.CLASS_ANNOTATE, "".join(parts), place.scope, code)
    return unit._replace(column=pieces[0][1]) if is_one_line else unit


def qualified_by_function(qualified: str, name: str) -> str:
    """The qualified name as in 3.15: that of the function, a dot, ``__annotate__``."""
    around = qualified.rpartition(".")[0]
    if around == name or around.endswith(f".{name}"):
        return qualified
    return f"{around}.{name}.{ANNOTATE_NAME}" if around else f"{name}.{ANNOTATE_NAME}"


def _make_unit(
    index: Index, kind: int, text: str, scope: Scope, code: CodeType
) -> Unit:
    names = _names_of(code)
    own_class = scope.class_name
    if own_class is not None and not (
        scope.is_in_class or "__class__" in code.co_freevars or "__" in text
    ):
        own_class = None
    flags = units.IN_CLASS if scope.is_in_class else 0
    if scope.is_nested:
        flags |= units.NESTED
    if index.names_super and "super" in names:
        flags |= units.NAMES_SUPER
    if code.co_flags & units.CO_ITERABLE_COROUTINE:
        flags |= units.ITERABLE_COROUTINE
    return Unit(
        kind=kind,
        text=text,
        name=code.co_name,
        qualified_name=code.co_qualname,
        class_name=own_class,
        flags=flags,
        futures=tuple(n for n, flag in _FEATURES.items() if code.co_flags & flag),
        free_names=code.co_freevars,
        imports=tuple(sorted(names & index.imports)),
    )


def _names_of(code: CodeType) -> set[str]:
    """All names in a code object and in the code nested in it."""
    names: set[str] = set()
    for inner in codes_in(code):
        names.update(inner.co_names, inner.co_varnames, inner.co_freevars)
        names.update(inner.co_cellvars)
    return names
