"""Code objects from units.

Tested by tests/python/source/test_compiling.py.
"""

from __future__ import annotations
import __future__

from types import CodeType

from waybill._source import limits, quiet
from waybill._source.index import DEFERRED, LAMBDA_NAME
from waybill._source.units import (
    ANNOTATE,
    CLASS_ANNOTATE,
    CO_FUNCTION,
    CO_ITERABLE_COROUTINE,
    GENERATED,
    ITERABLE_COROUTINE,
    LAMBDA,
    NoRoomError,
    UnitError,
)
from waybill._source.wrapping import Wrapped, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from waybill._source.units import Unit

#: The features that a module can ask for, and their flags of code objects. That of
#: nested scopes means something else by now, as all have them.
FEATURES: dict[str, int] = {
    name: getattr(__future__, name).compiler_flag
    for name in __future__.all_feature_names
    if name != "nested_scopes"
}

_OF_ANNOTATIONS = ANNOTATE, CLASS_ANNOTATE


def compile_unit(unit: Unit, file: str, first_line: int) -> CodeType:
    """The code object of a unit, as this Python compiles it.

    ``file`` and ``first_line`` say where it stands, with its decorators. Raises
    SyntaxError, with a line of that file, for syntax that this Python does not know,
    and UnitError for a unit that is not what it says.
    """
    limits.check(unit, FEATURES)
    if not 1 <= first_line <= limits.MAX_TEXT:
        raise UnitError(f"the source of {unit.name} begins at line {first_line}")
    if unit.kind == GENERATED:
        return _placeholder(unit, file, first_line)
    synthetic = unit.kind in _OF_ANNOTATIONS and not DEFERRED
    wrapped = None if synthetic else wrap(unit, first_line)
    above = 1 if wrapped is None else wrapped.above
    try:
        if wrapped is None:
            from waybill._source.annotations import compile_annotations

            code, above = compile_annotations(unit)
        else:
            code = _find(_compile(wrapped.text, unit), unit, wrapped)
        return _dress(code, unit, file, first_line - 1 - above)
    except SyntaxError as error:
        _place(error, file, first_line - 1 - above)
        raise
    except (RecursionError, MemoryError) as error:
        raise NoRoomError(f"the source of {unit.name} nests too deeply") from error
    except UnitError:
        raise
    except (ValueError, OverflowError, SystemError) as error:
        # What compilers say of text that is no text to them, or too much.
        raise UnitError(f"the source of {unit.name} is refused: {error}") from error


def _placeholder(unit: Unit, file: str, first_line: int) -> CodeType:
    from waybill._source.generated import placeholder

    return placeholder(unit, file, first_line)


def _compile(text: str, unit: Unit) -> Any:
    flags = 0
    for name in unit.futures:
        flags |= FEATURES[name]
    return quiet.compile_quietly(text, flags, unit.optimization)


def _place(error: SyntaxError, file: str, lines_off: int) -> None:
    """Lets an error of the compiler say where the unit stands."""
    error.filename = file
    if error.lineno is not None:
        error.lineno = max(1, error.lineno + lines_off)
    if error.end_lineno is not None:
        error.end_lineno = max(1, error.end_lineno + lines_off)


def _find(module: CodeType, unit: Unit, wrapped: Wrapped) -> CodeType:
    """The code of the unit itself.

    What its defaults have is compiled before it, and what its type parameters have is
    around it.
    """
    level = [module]
    for _ in range(wrapped.depth):
        level = _nested(level)[:1]
    name = LAMBDA_NAME if unit.kind == LAMBDA else unit.name
    for _ in range(2):
        level = _nested(level)
        named = [c for c in level if c.co_name == name and _is_function(c)]
        if named:
            # Annotations are compiled before what is annotated.
            of_annotations = unit.kind in _OF_ANNOTATIONS
            return _checked(named[0 if of_annotations else -1], unit)
    raise UnitError(f"the source of {unit.name} does not have it")


def _nested(codes: list[CodeType]) -> list[CodeType]:
    return [k for code in codes for k in code.co_consts if type(k) is CodeType]


def _is_function(code: CodeType) -> bool:
    return code.co_flags & CO_FUNCTION == CO_FUNCTION


def _checked(code: CodeType, unit: Unit) -> CodeType:
    extra = set(code.co_freevars).difference(unit.free_names)
    if extra:
        raise UnitError(
            f"the source of {unit.name} needs the variable {min(extra)}, which its "
            "unit does not list"
        )
    return code


def _dress(code: CodeType, unit: Unit, file: str, lines_off: int) -> CodeType:
    """The code with the names and lines that it had where it was written."""
    flags = code.co_flags
    if unit.flags & ITERABLE_COROUTINE:
        flags |= CO_ITERABLE_COROUTINE
    name = unit.qualified_name
    if unit.kind == ANNOTATE and DEFERRED:
        # 3.14 names it as if it stood beside its function, 3.15 some of them.
        around, _, function = name.rpartition(".")[0].rpartition(".")
        if not code.co_qualname.endswith(f"{function}.{code.co_name}"):
            name = f"{around}.{code.co_name}" if around else code.co_name
    was = code.co_qualname
    dressed = dress_all(code, was, name, file, lines_off)
    if unit.kind in _OF_ANNOTATIONS and DEFERRED:
        # Lambdas in annotations are named as if they stood around these.
        old, new = _around(was, unit), _around(name, unit)
        if old and old != new:
            dressed = dress_all(dressed, old, new, file, 0)
    return dressed if flags == code.co_flags else dressed.replace(co_flags=flags)


def _around(qualified: str, unit: Unit) -> str:
    """What the qualified name of the code of annotations begins with."""
    around = qualified.rpartition(".")[0]
    if unit.kind == ANNOTATE:
        function = unit.qualified_name.rpartition(".")[0].rpartition(".")[2]
        around = f".{around}".removesuffix(f".{function}").removeprefix(".")
    return around


def dress_all(
    code: CodeType, old: str, new: str, file: str, lines_off: int
) -> CodeType:
    qualified = was = code.co_qualname
    if was == old:
        qualified = new
    elif was.startswith(f"{old}."):
        qualified = new + was[len(old) :]
    is_body = not code.co_flags & CO_FUNCTION
    constants = tuple(
        dress_all(k, old, new, file, lines_off)
        if type(k) is CodeType
        # The body of a class sets __qualname__ to a constant.
        else (qualified if is_body and k == was and type(k) is str else k)
        for k in code.co_consts
    )
    return code.replace(
        co_filename=file,
        co_qualname=qualified,
        co_firstlineno=code.co_firstlineno + lines_off,
        co_consts=constants,
    )
