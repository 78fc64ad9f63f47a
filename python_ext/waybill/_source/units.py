"""Units: the source of one code object, which travels beside its bytecode. Tested by
tests/python/source/test_compiling.py."""

from __future__ import annotations

from waybill._api.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

#: Kinds of units.
DEF, LAMBDA, ANNOTATE, CLASS_ANNOTATE, GENERATED = range(5)

#: Flags of units: directly in the body of a class; nested in a function or another
#: scope with cells; the module names ``super`` at top level, which changes how calls of
#: it are compiled; types.coroutine() made the function awaitable.
IN_CLASS, NESTED, NAMES_SUPER, ITERABLE_COROUTINE = 1, 2, 4, 8
ALL_FLAGS = IN_CLASS | NESTED | NAMES_SUPER | ITERABLE_COROUTINE

#: Flags of code objects, from CPython's Include/cpython/code.h.
CO_OPTIMIZED, CO_NEWLOCALS, CO_NESTED, CO_ITERABLE_COROUTINE = 1, 2, 0x10, 0x100
CO_FUNCTION = CO_OPTIMIZED | CO_NEWLOCALS


def is_function(code: CodeType) -> bool:
    return code.co_flags & CO_FUNCTION == CO_FUNCTION


class Unit(NamedTuple):
    """The source of one code object, and all else that its compilation depends on.

    The fields are plain values, in the order of the wire format. Equal source gives
    equal fields in all versions of Python.
    """

    kind: int
    #: A ``def`` as it was written, without its decorators, with its indent; or the
    #: slice that is a lambda. candidates.py makes the text of the other kinds.
    text: str
    name: str
    qualified_name: str
    #: The innermost class around it, if the compilation depends on it.
    class_name: str | None = None
    flags: int = 0
    #: The level of ``-O`` at which it was compiled.
    optimization: int = 0
    #: Lines of decorators above the ``def``.
    decorator_lines: int = 0
    #: The column of a lambda or of a class body on one line, in bytes.
    column: int = 0
    #: Names of ``__future__`` features.
    futures: tuple[str, ...] = ()
    free_names: tuple[str, ...] = ()
    #: Names in the code that the module binds by import, even if some are also local
    #: variables: compilers do not tell them apart.
    imports: tuple[str, ...] = ()


class UnitError(ValueError):
    """A unit that is malformed or that this Python cannot compile."""


class NoRoomError(UnitError):
    """A unit that needs more stack or memory to compile than is available."""
