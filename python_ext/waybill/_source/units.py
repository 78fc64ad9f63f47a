"""What travels of a code object beside its bytecode: a unit, its source by itself.

Tested by tests/python/source/test_compiling.py.
"""

from __future__ import annotations

from waybill._api.named_tuples import NamedTuple

#: Kinds of units.
DEF, LAMBDA, ANNOTATE, CLASS_ANNOTATE, GENERATED = range(5)

#: Flags of units: it stands right in the body of a class; in a function or in another
#: scope with cells; its module names ``super`` at its top level, after which compilers
#: call that another way; types.coroutine() made it awaitable.
IN_CLASS, NESTED, NAMES_SUPER, ITERABLE_COROUTINE = 1, 2, 4, 8
ALL_FLAGS = IN_CLASS | NESTED | NAMES_SUPER | ITERABLE_COROUTINE

#: Flags of code objects, of the interpreter's Include/cpython/code.h.
CO_OPTIMIZED, CO_NEWLOCALS, CO_NESTED, CO_ITERABLE_COROUTINE = 1, 2, 0x10, 0x100
CO_FUNCTION = CO_OPTIMIZED | CO_NEWLOCALS


class Unit(NamedTuple):
    """The source of one code object, and what its compilation depends on beside it.

    The fields are plain values, in the order of the wire format. They are the same for
    the same source, whichever Python made them.
    """

    kind: int
    #: As it was written: a ``def`` without its decorators, with its indent; the slice
    #: that is a lambda. What it is for other kinds is said where those are made.
    text: str
    name: str
    qualified_name: str
    #: The innermost class around it, where that matters to the compiler.
    class_name: str | None = None
    flags: int = 0
    #: The level of ``-O`` at which it was compiled.
    optimization: int = 0
    #: Lines of decorators above the ``def``.
    lines: int = 0
    #: Of a lambda, in bytes.
    column: int = 0
    #: Names of ``__future__`` features.
    futures: tuple[str, ...] = ()
    free_names: tuple[str, ...] = ()
    #: What it names that its module binds by import, even where it is another variable:
    #: compilers look at these names alone.
    imports: tuple[str, ...] = ()


class UnitError(ValueError):
    """A unit that cannot be compiled here, or that is not what it says."""


class NoRoomError(UnitError):
    """A unit that needs more stack or memory to compile than is left here."""
