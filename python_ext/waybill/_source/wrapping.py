"""The text of a module around a unit, in which its scopes are what they were.

It is compiled and never run. What it has to reproduce is what compilers look at
outside of a function: the class around it, for mangled names and ``__class__``; the
variables of the functions around it; the names that the module imports, and whether it
names ``super``, since both change how calls are compiled.

Tested by tests/python/source/test_compiling.py.
"""

from __future__ import annotations

from waybill._source.units import IN_CLASS, LAMBDA, NAMES_SUPER, NESTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from waybill._source.units import Unit
else:
    from waybill._records import NamedTuple

#: Variables that a class gives to what is in it, besides its attributes.
OF_CLASSES = frozenset({"__class__", "__classdict__"})
_BLANK = " \t\f"


class Wrapped(NamedTuple):
    """A text to compile."""

    text: str
    #: Lines above the first one of the unit, with its decorators.
    above: int
    #: How many scopes the unit is in.
    depth: int


def wrap(unit: Unit, first_line: int) -> Wrapped:
    """The text for a unit that begins at a line, or above it where there is no room."""
    heads, depth = _heads(unit)
    if unit.kind == LAMBDA:
        indents = [" " * level for level in range(len(heads))]
        heads.append("(")
        indents.append(" " * depth)
        body = f"{' ' * unit.column}{unit.text})"
    else:
        indent = indent_of(unit.text)
        if not heads and indent:
            heads.append("if 1:")
        indents = _indents(heads, indent)
        decorated = f"{indent}@_" + "\n" * unit.lines if unit.lines else ""
        body = decorated + unit.text
    above = [f"{i}{head}\n" for i, head in zip(indents, heads, strict=True)]
    # Only the bodies of classes hold numbers of lines; all else has them apart.
    has_class = unit.kind != LAMBDA and "class" in unit.text
    room = first_line - 1 - len(above) if has_class else 0
    text = "\n" * room + "".join(above) + body + _below(unit)
    return Wrapped(text, max(room, 0) + len(above), depth)


def indent_of(text: str) -> str:
    """What the first line begins with, from its last form feed on."""
    indent = text[: len(text) - len(text.lstrip(_BLANK))]
    return indent.rpartition("\f")[2]


def _heads(unit: Unit) -> tuple[list[str], int]:
    """The statements around a unit, each in the one before; how many are scopes."""
    own = unit.class_name
    free = [n for n in unit.free_names if own is None or n not in OF_CLASSES]
    name = "_" if unit.name != "_" else "__"
    function = [f"def {name}({','.join(free)}):"] if unit.flags & NESTED else []
    if own is None:
        return function, len(function)
    if not unit.flags & IN_CLASS:
        heads = [f"class {own}:", *function]
        return heads, len(heads)
    depth = len(function) + 1
    if function and own not in unit.free_names:
        # The class is a global, though cells are around it: those of type parameters.
        function.append(f"global {own}")
    return [*function, f"class {own}:"], depth


def _indents(heads: list[str], indent: str) -> list[str]:
    """The indent of each head, less than that of the unit."""
    found = []
    level = 0
    for head in heads:
        found.append(indent[:level])
        level += head[-1] == ":"  # All others stand before one at the same level.
    return found


def _below(unit: Unit) -> str:
    # The order does not matter: names are collected before code is made.
    names = f"import {','.join(unit.imports)}\n" if unit.imports else ""
    return f"\n{names}super\n" if unit.flags & NAMES_SUPER else f"\n{names}"
