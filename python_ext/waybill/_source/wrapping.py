"""The text of a module around a unit, in which its scopes are what they were.

It is compiled and never run. What it has to reproduce is what compilers look at
outside of a function: the class around it, for mangled names and ``__class__``; the
variables of the functions around it; the names that the module imports, and whether it
names ``super``, since both change how calls are compiled.

Tested by tests/python/source/test_compiling.py.
"""

from __future__ import annotations

from waybill._api.named_tuples import NamedTuple
from waybill._source.units import (
    CLASS_ANNOTATE,
    DEF,
    IN_CLASS,
    LAMBDA,
    NAMES_SUPER,
    NESTED,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from waybill._source.units import Unit

#: Variables that a class gives to what is in it, besides its attributes.
OF_CLASSES = frozenset({"__class__", "__classdict__", "__conditional_annotations__"})
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
    if unit.kind == LAMBDA:
        heads, depth = _heads(unit, "")
        indents = _indents(heads, " " * depth)
        above = [f"{i}{head}\n" for i, head in zip(indents, heads, strict=True)]
        above.append(f"{' ' * depth}(\n")
        body = f"{' ' * unit.column}{unit.text})"
    else:
        is_one_line = unit.kind == CLASS_ANNOTATE and unit.column > 0
        indent = " " * 4 if is_one_line else indent_of(unit.text)
        heads, depth = _heads(unit, indent)
        if not heads and indent:
            heads.append("if 1:")
        indents = _indents(heads, indent)
        above = [f"{i}{head}\n" for i, head in zip(indents, heads, strict=True)]
        if is_one_line:
            above[-1] = above[-1].replace("\n", " ")
        decorated = f"{indent}@_" + "\n" * unit.lines if unit.lines else ""
        body = decorated + unit.text
    # Only the bodies of classes hold numbers of lines; all else has them apart.
    has_class = unit.kind == DEF and "class" in unit.text
    room = max(first_line - 1 - len(above), 0) if has_class else 0
    text = "\n" * room + "".join(above) + body + _below(unit)
    # The annotations of a class begin with the class itself.
    own = unit.kind == CLASS_ANNOTATE
    return Wrapped(text, room + len(above) - own, depth)


def indent_of(text: str) -> str:
    """What the first line begins with, from its last form feed on."""
    text = text.lstrip("\n")
    indent = text[: len(text) - len(text.lstrip(_BLANK))]
    return indent.rpartition("\f")[2]


def _heads(unit: Unit, indent: str) -> tuple[list[str], int]:
    """The statements around a unit, each in the one before; how many are scopes."""
    own = unit.class_name
    free = [n for n in unit.free_names if own is None or n not in OF_CLASSES]
    name = "_" if unit.name != "_" else "__"
    function = [f"def {name}({','.join(free)}):"] if unit.flags & NESTED else []
    if own is None or not unit.flags & IN_CLASS:
        around = [] if own is None else [f"class {own}:"]
        depth = len(around) + len(function)
        if function and unit.kind == DEF and mangled(unit.name, own) not in free:
            # It does not mean itself by its name, unless it is a global.
            function.append(f"global {unit.name}")
        return [*around, *function], depth
    if function and own not in unit.free_names:
        if len(indent) < 2 and unit.kind != LAMBDA:
            # There is no room for two scopes in the indent: it is a generic class, and
            # what is free are its parameters.
            return [f"class {own}[{','.join(free) or 'waybill__none'}]:"], 2
        # The class is a global, though cells are around it: those of type parameters.
        function.append(f"global {own}")
        return [*function, f"class {own}:"], 2
    return [*function, f"class {own}:"], len(function) + 1


def mangled(name: str, class_name: str | None) -> str:
    """A name as the compiler has it in a class."""
    around = (class_name or "").lstrip("_")
    if around and name.startswith("__") and not name.endswith("__"):
        return f"_{around}{name}"
    return name


def _indents(heads: list[str], indent: str) -> list[str]:
    """The indent of each head, less than that of the unit."""
    found: list[str] = []
    level = 0
    for head in heads:
        is_last = len(found) == len(heads) - 1
        found.append(indent if is_last and head[-1] != ":" else indent[:level])
        level += head[-1] == ":"  # What opens none is at the level of the next one.
    return found


def _below(unit: Unit) -> str:
    # The order does not matter: names are collected before code is made.
    names = f"import {','.join(unit.imports)}\n" if unit.imports else ""
    return f"\n{names}super\n" if unit.flags & NAMES_SUPER else f"\n{names}"
