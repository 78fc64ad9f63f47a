"""Limits of a unit, checked before any of it is compiled.

The compiler recurses as deep as its text nests, on a stack of unknown size, so text
that nests deeper than people write is refused. Names that are put into the text around
a unit must be plain identifiers. Tested by tests/python/source/test_source_limits.py.
"""

from __future__ import annotations

from keyword import iskeyword

from waybill._source.nesting import nesting_problem
from waybill._source.units import ALL_FLAGS, GENERATED, LAMBDA, UnitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from waybill._source.units import Unit

MAX_TEXT = 1 << 20
MAX_NAMES = 10_000
MAX_NAME = 1 << 16


def check(unit: Unit, features: dict[str, int]) -> None:
    """Raises UnitError, which names the problem, if a unit must not be compiled."""
    subject = f"the source of {unit.name[:100]!r}"
    if not 0 <= unit.kind <= GENERATED:
        raise UnitError(f"{subject} is of an unknown kind, {unit.kind}")
    if len(unit.text) > MAX_TEXT:
        raise UnitError(f"{subject} is longer than {MAX_TEXT} characters")
    if "\0" in unit.text or not _is_text(unit.text):
        raise UnitError(f"{subject} has characters that are not valid in source")
    if len(unit.qualified_name) > MAX_NAME or not _is_text(unit.qualified_name):
        raise UnitError(
            f"{subject} has a qualified name that is not text, or is longer than "
            f"{MAX_NAME} characters"
        )
    for names in (unit.futures, unit.free_names, unit.imports):
        if len(names) > MAX_NAMES:
            raise UnitError(f"{subject} has more than {MAX_NAMES} names")
    own = [] if unit.kind == LAMBDA else [unit.name]
    inside = [] if unit.class_name is None else [unit.class_name]
    for name in (*own, *inside, *unit.free_names, *unit.imports):
        if not _is_name(name):
            raise UnitError(f"{subject} has the invalid name {name[:100]!r}")
    for name in unit.futures:
        if name not in features:
            raise UnitError(
                f"{subject} has an unknown __future__ import, {name[:100]!r}"
            )
    if unit.flags & ~ALL_FLAGS or unit.optimization not in (0, 1, 2):
        raise UnitError(f"{subject} has unknown flags")
    reason = nesting_problem(unit.text, unit.kind == LAMBDA)
    if reason:
        raise UnitError(f"{subject} is not compiled: {reason}")
    if not 0 <= unit.decorator_lines <= MAX_TEXT or not 0 <= unit.column <= MAX_TEXT:
        raise UnitError(f"{subject} has an impossible line or column")


def _is_text(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_name(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name) and name != "__debug__"
