"""Compiles units to code objects. Tested by tests/python/source/test_compiling.py."""

from __future__ import annotations
import __future__

from types import CodeType

from waybill._source import limits, quiet, units
from waybill._source.index import DEFERRED, LAMBDA_NAME
from waybill._source.units import NoRoomError, UnitError
from waybill._source.wrapping import WrappedUnit, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from waybill._source.units import Unit

#: Code object flags of the ``__future__`` features. That of nested_scopes is left out:
#: all code has the feature, and the flag has another meaning today.
FEATURES: dict[str, int] = {
    name: getattr(__future__, name).compiler_flag
    for name in __future__.all_feature_names
    if name != "nested_scopes"
}

_ANNOTATION_KINDS = units.ANNOTATE, units.CLASS_ANNOTATE


def compile_unit(unit: Unit, file: str, first_line: int) -> CodeType:
    """The code object of a unit, as this Python compiles it.

    ``file`` is the name and ``first_line`` the line, decorators included, that the code
    object gets. Raises SyntaxError, with a line of that file, for syntax that this
    Python does not support, and UnitError for a malformed or oversized unit.
    """
    limits.check(unit, FEATURES)
    if not 1 <= first_line <= limits.MAX_TEXT:
        raise UnitError(
            f"the source of {unit.name} begins at line {first_line}, which no file has"
        )
    if unit.kind == units.GENERATED:
        from waybill._source.generated import placeholder

        return placeholder(unit, file, first_line)
    is_synthetic = unit.kind in _ANNOTATION_KINDS and not DEFERRED
    wrapped = None if is_synthetic else wrap(unit, first_line)
    above = 1 if wrapped is None else wrapped.above
    try:
        if wrapped is None:
            from waybill._source.annotations import compile_annotations

            code, above = compile_annotations(unit)
        else:
            code = _find_unit_code(_compile(wrapped.text, unit), unit, wrapped)
        return _relabel(code, unit, file, first_line - 1 - above)
    except SyntaxError as error:
        _relocate(error, file, first_line - 1 - above)
        raise
    except (RecursionError, MemoryError) as error:
        raise NoRoomError(f"the source of {unit.name} nests too deeply") from error
    except UnitError:
        raise
    except (ValueError, OverflowError, SystemError) as error:
        # Compilers raise these for text that is malformed or too large.
        raise UnitError(f"the source of {unit.name} is refused: {error}") from error


def _compile(text: str, unit: Unit) -> Any:
    flags = 0
    for name in unit.futures:
        flags |= FEATURES[name]
    return quiet.compile_quietly(text, flags, unit.optimization)


def _relocate(error: SyntaxError, file: str, line_offset: int) -> None:
    """Sets the position of a compiler error to the unit's file and lines."""
    error.filename = file
    if error.lineno is not None:
        error.lineno = max(1, error.lineno + line_offset)
    if error.end_lineno is not None:
        error.end_lineno = max(1, error.end_lineno + line_offset)


def _find_unit_code(module: CodeType, unit: Unit, wrapped: WrappedUnit) -> CodeType:
    """The code object of the unit in that of the whole text.

    Code of its defaults comes before it in ``co_consts``; code of its type parameters
    encloses it.
    """
    level = [module]
    for _ in range(wrapped.depth):
        level = _nested_codes(level)[:1]
    name = LAMBDA_NAME if unit.kind == units.LAMBDA else unit.name
    for _ in range(2):
        level = _nested_codes(level)
        named = [c for c in level if c.co_name == name and units.is_function(c)]
        if named:
            # Annotations are compiled before the annotated function.
            of_annotations = unit.kind in _ANNOTATION_KINDS
            return _check_free_names(named[0 if of_annotations else -1], unit)
    raise UnitError(f"the source of {unit.name} does not define it")


def _nested_codes(codes: list[CodeType]) -> list[CodeType]:
    return [k for code in codes for k in code.co_consts if type(k) is CodeType]


def _check_free_names(code: CodeType, unit: Unit) -> CodeType:
    extra = set(code.co_freevars).difference(unit.free_names)
    if extra:
        raise UnitError(
            f"the source of {unit.name} needs the variable {min(extra)}, which its "
            "unit does not list"
        )
    return code


def _relabel(code: CodeType, unit: Unit, file: str, line_offset: int) -> CodeType:
    """The code with the file, lines and qualified names of the original."""
    flags = code.co_flags
    if unit.flags & units.ITERABLE_COROUTINE:
        flags |= units.CO_ITERABLE_COROUTINE
    name = unit.qualified_name
    if unit.kind == units.ANNOTATE and DEFERRED:
        # 3.14, and 3.15 in some cases, names the code as a sibling of its function.
        around, _, function = name.rpartition(".")[0].rpartition(".")
        if not code.co_qualname.endswith(f"{function}.{code.co_name}"):
            name = f"{around}.{code.co_name}" if around else code.co_name
    compiled_name = code.co_qualname
    relabelled = relabel_all(code, compiled_name, name, file, line_offset)
    if unit.kind in _ANNOTATION_KINDS and DEFERRED:
        # Lambdas in annotations are named as siblings of the annotated function.
        old, new = _enclosing_name(compiled_name, unit), _enclosing_name(name, unit)
        if old and old != new:
            relabelled = relabel_all(relabelled, old, new, file, 0)
    return relabelled if flags == code.co_flags else relabelled.replace(co_flags=flags)


def _enclosing_name(qualified: str, unit: Unit) -> str:
    """The qualified name of the scope around the annotated function or class."""
    around = qualified.rpartition(".")[0]
    if unit.kind == units.ANNOTATE:
        function = unit.qualified_name.rpartition(".")[0].rpartition(".")[2]
        around = f".{around}".removesuffix(f".{function}").removeprefix(".")
    return around


def relabel_all(
    code: CodeType, old: str, new: str, file: str, line_offset: int
) -> CodeType:
    """The code and all code nested in it, with another file, lines moved by an offset,
    and ``new`` for ``old`` at the start of qualified names."""
    qualified = present_name = code.co_qualname
    if present_name == old:
        qualified = new
    elif present_name.startswith(f"{old}."):
        qualified = new + present_name[len(old) :]
    is_body = not code.co_flags & units.CO_FUNCTION
    constants = tuple(
        relabel_all(k, old, new, file, line_offset)
        if type(k) is CodeType
        # The body of a class sets __qualname__ to a constant.
        else (qualified if is_body and k == present_name and type(k) is str else k)
        for k in code.co_consts
    )
    return code.replace(
        co_filename=file,
        co_qualname=qualified,
        co_firstlineno=code.co_firstlineno + line_offset,
        co_consts=constants,
    )
