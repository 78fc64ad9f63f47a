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
from waybill._source.units import Unit
from waybill._source.wrapping import wrap


def prove_nested(code: CodeType) -> Unit | str | None:
    """The unit of such code, or why there is none; None of all other code."""
    entry = by_code.noted(by_code.AROUND, code)
    if entry is None:
        return None
    _, parts, first_line = entry
    unit = Unit(*parts)
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
