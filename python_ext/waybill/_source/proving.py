"""Finds the units of live code objects and proves them by compilation.

A unit that compiles to anything else is rejected: the file or the code may have
changed. Nothing is guessed. Tested by tests/python/source/test_proving.py and
test_nested_units.py.
"""

from __future__ import annotations

import sys
from types import CodeType
from weakref import ref

from waybill._classes.identity import find_entry
from waybill._source import by_code, code_equality, files, limits, units
from waybill._source.candidates import find_candidates
from waybill._source.compiling import FEATURES, compile_unit, relabel_all
from waybill._source.units import NoRoomError, Unit, UnitError
from waybill._source.wrapping import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from waybill._source.files import Source

#: Weak table of code without a unit: (reference, the source that was searched, why
#: there is none). An entry is valid for that source only.
_unproven: dict[int, tuple[ref[CodeType], Source, str]] = {}
_MAX_UNPROVEN = 8192


def prove(code: CodeType, owner: type | None = None) -> Unit | str:
    """The unit that compiles to a code object with this Python; else a clause that says
    why there is none.

    The code is equal except for the file name; columns are compared if both have them.
    ``owner`` is the class that holds the function, if the caller has one. The cost is
    one compilation once the file is parsed; for code without a unit, one stat().
    """
    if owner is not None and code.co_filename == "<string>":
        from waybill._source.generated import prove_generated

        generated = prove_generated(code, owner)
        if generated is not None:
            return generated
    source = files.find_source(code)
    if isinstance(source, str):
        return source
    cached = find_entry(_unproven, code)
    if cached is not None and cached[1] is source:
        return cached[2]
    found = prove_from_source(source, code)
    if isinstance(found, str):
        if len(_unproven) >= _MAX_UNPROVEN:
            _unproven.clear()
        by_code.record(_unproven, code, source, found)
    return found


def prove_nested(code: CodeType) -> Unit | str | None:
    """The unit of code nested in a function received as source, or why there is none;
    None for any other code.

    Such code has no file here: it is found in the text of the enclosing unit.
    """
    entry = find_entry(by_code.ENCLOSING, code)
    if entry is None:
        return None
    _, parts, first_line = entry
    unit = Unit(*parts)
    wrapped = wrap(unit, first_line)
    source = files.Source(code.co_filename, None)
    source.read(wrapped.text)
    if source.index is None:
        return source.error
    # Lines of the index count from the start of the wrapped text.
    line_offset = first_line - 1 - wrapped.above
    qualified = code.co_qualname
    moved_code = relabel_all(code, qualified, qualified, code.co_filename, -line_offset)
    return prove_from_source(source, moved_code)


def prove_from_source(source: Source, code: CodeType) -> Unit | str:
    """The unit of a code object in a parsed source; else why there is none."""
    index = source.index
    assert index is not None
    line = code.co_firstlineno
    if not units.is_function(code):
        return "it is not the code of a function"
    found = find_candidates(source, index, code)
    if not found:
        return f"{source.name} does not have this function at line {line}"
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
    """A qualified name without comprehensions, which are scopes only in 3.11."""
    for kind in ("list", "set", "dict"):
        name = name.replace(f"<{kind}comp>.", "")
    return name


def _first_that_compiles(
    source: Source, candidates: list[Unit], code: CodeType
) -> Unit | None:
    first: Unit | None = None
    for unit, compiled in _compile_candidates(candidates, code, source.name):
        # Columns distinguish equal lambdas on one line.
        if code_equality.has_same_columns(compiled, code):
            return unit
        if first is None and _can_differ_in_columns(unit, compiled, code):
            first = unit
    return first


def _can_differ_in_columns(unit: Unit, compiled: CodeType, code: CodeType) -> bool:
    """Whether equal source may have differing columns. Annotations have the end of the
    whole function, which does not travel, and ``-X no_debug_ranges`` omits columns."""
    return (
        unit.kind in (units.ANNOTATE, units.CLASS_ANNOTATE)
        or not (code_equality.has_columns(compiled) and code_equality.has_columns(code))
    ) and code_equality.has_same_lines(compiled, code)


def _compile_candidates(
    candidates: list[Unit], code: CodeType, file: str
) -> Iterator[tuple[Unit, CodeType]]:
    """(unit, its code) for each of the units that compile to ``code``."""
    for unit in candidates:
        for level in _levels(unit):
            at_level = unit._replace(optimization=level) if level else unit
            try:
                compiled = compile_unit(at_level, file, code.co_firstlineno)
            except NoRoomError:
                raise
            except (SyntaxError, ValueError):
                continue
            if code_equality.is_same(compiled, code):
                yield at_level, compiled


def _levels(unit: Unit) -> tuple[int, ...]:
    """Levels of ``-O`` to try, in order.

    0 comes first where the level makes no difference, so that equal source gives equal
    units.
    """
    own = min(sys.flags.optimize, 2)
    if own and ("assert" in unit.text or "__debug__" in unit.text):
        return (own, *(level for level in (0, 1, 2) if level != own))
    return 0, 1, 2
