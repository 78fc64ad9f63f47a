"""Units of live code objects, proven by compiling them.

A unit whose compilation differs from the code in anything is none: the file may have
changed, or the code. Nothing is guessed.

Tested by tests/python/source/test_proving.py and test_nested_units.py.
"""

from __future__ import annotations

import sys
from types import CodeType
from weakref import ref

from waybill._source import by_code, comparing, files, limits
from waybill._source.candidates import candidates
from waybill._source.compiling import FEATURES, compile_unit, dress_all
from waybill._source.units import (
    ANNOTATE,
    CLASS_ANNOTATE,
    CO_FUNCTION,
    NoRoomError,
    Unit,
    UnitError,
)
from waybill._source.wrapping import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from waybill._source.files import Source

#: Code without a unit, by address: code objects compare by value. With each, what was
#: read and why there is none; that is true while nothing else is read.
_refused: dict[int, tuple[ref[CodeType], Source, str]] = {}
_MAX_REFUSED = 8192


def prove(code: CodeType, owner: type | None = None) -> Unit | str:
    """The unit that compiles to a code object with this Python; else a clause that says
    why there is none.

    All is the same but the name of the file; columns too, where they can be had.
    ``owner`` is the class that has the function, if one is known. The cost is one
    compilation, once the file is parsed; where there is no unit, one look at the file.
    """
    if owner is not None and code.co_filename == "<string>":
        from waybill._source.generated import prove_generated

        generated = prove_generated(code, owner)
        if generated is not None:
            return generated
    source = files.source_of(code)
    if isinstance(source, str):
        return source
    known = by_code.noted(_refused, code)
    if known is not None and known[1] is source:
        return known[2]
    found = prove_in(source, code)
    if isinstance(found, str):
        _refuse(code, source, found)
    return found


def prove_nested(code: CodeType) -> Unit | str | None:
    """The unit of code in a function that came as source, or why there is none; None of
    all other code.

    It has no file here: it is found in the text of the unit that it stands in.
    """
    entry = by_code.noted(by_code.AROUND, code)
    if entry is None:
        return None
    _, parts, first_line = entry
    unit = Unit(*parts)
    wrapped = wrap(unit, first_line)
    source = files.Source(code.co_filename, None)
    source.read(wrapped.text)
    if source.index is None:
        return source.error
    # Lines count from the first one of the text.
    lines_off = first_line - 1 - wrapped.above
    qualified = code.co_qualname
    there = dress_all(code, qualified, qualified, code.co_filename, -lines_off)
    return prove_in(source, there)


def _refuse(code: CodeType, source: Source, reason: str) -> None:
    if len(_refused) >= _MAX_REFUSED:
        _refused.clear()
    by_code.note(_refused, code, source, reason)


def prove_in(source: Source, code: CodeType) -> Unit | str:
    """The unit of a code object in a source with an index; else why there is none."""
    index = source.index
    assert index is not None
    line = code.co_firstlineno
    if code.co_flags & CO_FUNCTION != CO_FUNCTION:
        return "it is no function's"
    found = candidates(source, index, code)
    if not found:
        return f"{source.name} has no such function at line {line}, or not any more"
    found_unit = _first_that_compiles(source, found, code)
    if found_unit is not None:
        return found_unit._replace(
            qualified_name=canonical_name(found_unit.qualified_name)
        )
    try:
        for unit in found:
            limits.check(unit, FEATURES)
    except UnitError as error:
        return str(error)
    if "__conditional_annotations__" in code.co_freevars:
        return f"some annotations of its class, at line {line}, are conditional"
    return (
        f"it is not what {source.name} has at line {line}: the file has changed "
        "since, or something has replaced the code"
    )


def canonical_name(name: str) -> str:
    """A qualified name without comprehensions, which are scopes in 3.11 alone."""
    for kind in ("list", "set", "dict"):
        name = name.replace(f"<{kind}comp>.", "")
    return name


def _first_that_compiles(
    source: Source, units: list[Unit], code: CodeType
) -> Unit | None:
    first: Unit | None = None
    for unit, made in _compiled(units, code, source.name):
        # Of equal lambdas on a line, columns tell which.
        if comparing.has_same_columns(made, code):
            return unit
        if first is None and _may_differ_in_columns(unit, made, code):
            first = unit
    return first


def _may_differ_in_columns(unit: Unit, made: CodeType, code: CodeType) -> bool:
    """Those of annotations tell where the whole function ends, which does not travel;
    ``-X no_debug_ranges`` leaves all out."""
    return (
        unit.kind in (ANNOTATE, CLASS_ANNOTATE)
        or not (comparing.has_columns(made) and comparing.has_columns(code))
    ) and comparing.has_same_lines(made, code)


def _compiled(
    units: list[Unit], code: CodeType, file: str
) -> Iterator[tuple[Unit, CodeType]]:
    """Those that compile to a code object, and what they compile to."""
    for unit in units:
        for level in _levels(unit):
            at_level = unit._replace(optimization=level) if level else unit
            try:
                made = compile_unit(at_level, file, code.co_firstlineno)
            except NoRoomError:
                raise
            except (SyntaxError, ValueError):
                continue
            if comparing.is_same(made, code):
                yield at_level, made


def _levels(unit: Unit) -> tuple[int, ...]:
    """Levels of -O, in the order in which they are tried.

    Where they make no difference it is 0, so that a unit does not tell of it.
    """
    own = min(sys.flags.optimize, 2)
    if own and ("assert" in unit.text or "__debug__" in unit.text):
        return (own, *(level for level in (0, 1, 2) if level != own))
    return 0, 1, 2
