"""Units of functions that stand in a function which came as source.

Such code has no file here: what it is in was compiled from a unit, and it is found in
the text of that.

Tested by tests/python/source/test_nested_units.py.
"""

from __future__ import annotations

from types import CodeType

from waybill._source import by_code
from waybill._source.compiling import dress_all
from waybill._source.files import Source
from waybill._source.proving import prove_in
from waybill._source.wrapping import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weakref import ref

    from waybill._source.units import Unit

#: Code in code that came as source, by address while it lives: the unit of what is
#: around it, and the line of that.
_around: dict[int, tuple[ref[CodeType], Unit, int]] = {}


def note_nested(code: CodeType, unit: Unit, first_line: int) -> None:
    """Remembers what the code in a code object came from."""
    todo = _codes_in(code)
    while todo:
        inner = todo.pop()
        todo += _codes_in(inner)
        by_code.note(_around, inner, unit, first_line)


def _codes_in(code: CodeType) -> list[CodeType]:
    return [k for k in code.co_consts if type(k) is CodeType]


def prove_nested(code: CodeType) -> Unit | str | None:
    """The unit of such code, or why there is none; None of all other code."""
    entry = by_code.noted(_around, code)
    if entry is None:
        return None
    _, unit, first_line = entry
    wrapped = wrap(unit, first_line)
    source = Source(code.co_filename, None)
    source.read(wrapped.text)
    if source.index is None:
        return source.error
    # Lines count from the first one of the text.
    lines_off = first_line - 1 - wrapped.above
    qualified = code.co_qualname
    there = dress_all(code, qualified, qualified, code.co_filename, -lines_off)
    return prove_in(source, there)
