"""Wraps a unit in the text of a module with the scopes that it had.

The text is compiled and never run. It reproduces what the compiler reads outside of a
function: the class around it, for mangled names and ``__class__``; the variables of
enclosing functions; the names that the module imports, and whether it names ``super``,
since both change how calls are compiled. Tested by
tests/python/source/test_compiling.py.
"""

from __future__ import annotations

from waybill._api.named_tuples import NamedTuple
from waybill._classes.parts import mangle
from waybill._source import units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from waybill._source.units import Unit

#: Variables that the compiler adds to the scope of a class.
CLASS_CELLS = frozenset({"__class__", "__classdict__", "__conditional_annotations__"})
_BLANK = " \t\f"


class WrappedUnit(NamedTuple):
    """A text to compile."""

    text: str
    #: Lines above the first line of the unit, decorators included.
    above: int
    #: The number of scopes around the unit.
    depth: int


def wrap(unit: Unit, first_line: int) -> WrappedUnit:
    """The text for a unit, padded so that it begins at ``first_line`` if it can."""
    if unit.kind == units.LAMBDA:
        statements, depth = _statements_around(unit, "")
        above = _indented(statements, " " * depth)
        above.append(f"{' ' * depth}(\n")
        body = f"{' ' * unit.column}{unit.text})"
    else:
        is_one_line = unit.kind == units.CLASS_ANNOTATE and unit.column > 0
        indent = " " * 4 if is_one_line else indent_of(unit.text)
        statements, depth = _statements_around(unit, indent)
        if not statements and indent:
            statements.append("if 1:")
        above = _indented(statements, indent)
        if is_one_line:
            above[-1] = above[-1].replace("\n", " ")
        lines = unit.decorator_lines
        decorators = f"{indent}@_" + "\n" * lines if lines else ""
        body = decorators + unit.text
    # Only class bodies have line numbers in constants, so only they need the padding.
    has_class = unit.kind == units.DEF and "class" in unit.text
    padding = max(first_line - 1 - len(above), 0) if has_class else 0
    text = "\n" * padding + "".join(above) + body + _statements_below(unit)
    # The text of class annotations begins with the line of the class itself.
    is_class = unit.kind == units.CLASS_ANNOTATE
    return WrappedUnit(text, padding + len(above) - is_class, depth)


def indent_of(text: str) -> str:
    """The indent of the first line, after its last form feed."""
    text = text.lstrip("\n")
    indent = text[: len(text) - len(text.lstrip(_BLANK))]
    return indent.rpartition("\f")[2]


def _statements_around(unit: Unit, indent: str) -> tuple[list[str], int]:
    """(the nested statements around a unit, outermost first; how many are scopes)."""
    own = unit.class_name
    free = [n for n in unit.free_names if own is None or n not in CLASS_CELLS]
    name = "_" if unit.name != "_" else "__"
    function = [f"def {name}({','.join(free)}):"] if unit.flags & units.NESTED else []
    if own is None or not unit.flags & units.IN_CLASS:
        around = [] if own is None else [f"class {own}:"]
        depth = len(around) + len(function)
        if function and unit.kind == units.DEF and mangle(unit.name, own) not in free:
            # Its own name is a global there, not a variable of the outer function.
            function.append(f"global {unit.name}")
        return [*around, *function], depth
    if function and own not in unit.free_names:
        if len(indent) < 2 and unit.kind != units.LAMBDA:
            # The indent has no room for two scopes: this is a generic class, and its
            # type parameters are the free variables.
            return [f"class {own}[{','.join(free) or 'waybill__none'}]:"], 2
        # The class is global, but inside the scope of its type parameters.
        function.append(f"global {own}")
        return [*function, f"class {own}:"], 2
    return [*function, f"class {own}:"], len(function) + 1


def _indented(statements: list[str], indent: str) -> list[str]:
    """A line for each statement, indented less than the unit."""
    lines: list[str] = []
    level = 0
    for statement in statements:
        is_block = statement[-1] == ":"
        is_last = len(lines) == len(statements) - 1
        own = indent if is_last and not is_block else indent[:level]
        lines.append(f"{own}{statement}\n")
        level += is_block  # A ``global`` is at the level of the next statement.
    return lines


def _statements_below(unit: Unit) -> str:
    # The order does not matter: names are collected before code is generated.
    names = f"import {','.join(unit.imports)}\n" if unit.imports else ""
    return f"\n{names}super\n" if unit.flags & units.NAMES_SUPER else f"\n{names}"
