"""Checks that the bytecode in a payload is what the source beside it compiles to.

A hostile sender can pair bytecode with other source. The receiver compiles the source
again and compares; it runs neither. Tested by tests/python/source/test_source_check.py.
"""

from __future__ import annotations

from waybill._api.named_tuples import NamedTuple
from waybill._source import code_equality
from waybill._source.compiling import compile_unit
from waybill._source.generated import new_of_namedtuple
from waybill._source.proving import canonical_name
from waybill._source.units import GENERATED, Unit, UnitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from typing_extensions import Buffer


class SourceCheck(NamedTuple):
    """The result for one function of a payload. ``problem`` is a clause that says why
    the source does not account for the bytecode; None if it does."""

    function: str
    file: str
    line: int
    problem: str | None


def check_sources(head: Buffer) -> list[SourceCheck]:
    """Checks all code that the payload with this head uses.

    Raises DecodeError if the head is malformed, and PythonMismatchError if another
    version of Python made the code.
    """
    from waybill import _core

    return [
        SourceCheck(
            code.co_qualname,
            code.co_filename,
            code.co_firstlineno,
            find_problem(None if parts is None else Unit(*parts), code),
        )
        for parts, code in _core.sent_sources(head)
    ]


def find_problem(unit: Unit | None, code: CodeType) -> str | None:
    """Why a unit does not account for a code object; None if it does."""
    if unit is None:
        return "it has no source"
    try:
        if unit.kind == GENERATED:
            return _find_generated_problem(unit, code)
        if any(
            code_equality.is_same(made, code) for made in _compile_source(unit, code)
        ):
            return None
    except SyntaxError as error:
        where = f" (line {error.lineno})" if error.lineno else ""
        return f"its source does not compile: {error.msg}{where}"
    except UnitError as error:
        return str(error)
    except RecursionError:  # Constants of hostile bytecode.
        return "it nests too deeply to be compared"
    return "its source compiles to other bytecode"


def _compile_source(unit: Unit, code: CodeType) -> Any:
    name = code.co_qualname
    names = [unit.qualified_name]
    if canonical_name(name) == unit.qualified_name != name:
        names.append(name)  # Comprehensions are scopes on this version.
    for qualified in names:
        named = unit._replace(qualified_name=qualified)
        yield compile_unit(named, code.co_filename, max(1, code.co_firstlineno))


def _find_generated_problem(unit: Unit, code: CodeType) -> str | None:
    if unit.name == "__new__":
        new = new_of_namedtuple(code.co_varnames[1 : code.co_argcount])
        if code_equality.is_same(new.__code__, code):
            return None
    return "a library wrote it, and it has no text to compare"
