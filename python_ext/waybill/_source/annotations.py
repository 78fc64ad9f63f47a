"""Annotations that are code: of 3.14 and later, for all versions (PEP 649).

Since 3.14 a function or a class has a function that gives its annotations. Older
receivers get one that does the same, made from the tree of the source.

Tested by tests/python/source/test_annotate.py.
"""

from __future__ import annotations

import ast
from types import CodeType, FunctionType

from waybill._source import quiet
from waybill._source.index import annotated_in
from waybill._source.units import (
    ANNOTATE,
    CLASS_ANNOTATE,
    CO_FUNCTION,
    IN_CLASS,
    UnitError,
)
from waybill._source.wrapping import indent_of, mangled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from waybill._source.units import Unit

    #: Names and what they are annotated with, in order; and of those in blocks that may
    #: not be run, their numbers among these.
    Pairs: TypeAlias = list[tuple[str, ast.expr, int | None]]

#: The variable of a class's attributes, and that of which annotations were reached.
_CLASS_DICT, _CONDITIONS = "__classdict__", "__conditional_annotations__"
_NAME = "__annotate__"
#: As ``annotationlib.Format.VALUE``.
_VALUE = 1


def evaluate_annotations(annotate: Any, unit: Unit) -> dict[str, Any]:
    """What a function of annotations gives; the source of those that do not evaluate,
    as of names that are not there."""
    try:
        return dict(annotate(_VALUE))
    except Exception:
        found: dict[str, Any] = {}
    if unit.kind not in (ANNOTATE, CLASS_ANNOTATE):
        return found
    pairs, line = _read(unit)
    cells = dict(
        zip(annotate.__code__.co_freevars, annotate.__closure__ or (), strict=True)
    )
    for name, annotation, number in pairs:
        text = ast.unparse(annotation)
        try:
            code = _compile([(name, annotation, number)], unit, line)
            closure = tuple(cells[free] for free in code.co_freevars)
            one = FunctionType(code, annotate.__globals__, _NAME, (), closure)
            found.update(one(_VALUE))
        except Exception:
            found[name] = text
    return found


def compile_annotations(unit: Unit) -> tuple[CodeType, int]:
    """The code of a function that gives the annotations of a unit, for versions that
    have none, and how many lines it has above the unit."""
    pairs, line = _read(unit)
    return _compile(pairs, unit, line), line - 1


def _read(unit: Unit) -> tuple[Pairs, int]:
    """The annotations, and the line at which the unit begins among theirs."""
    if unit.kind == CLASS_ANNOTATE:
        below = " " if unit.column else "\n"
        tree = quiet.parse_quietly(f"class _:{below}{unit.text}\n")
        found = list(_assigned(tree.body[0].body))
        line = 1
    else:
        indented = bool(indent_of(unit.text))
        tree = quiet.parse_quietly(f"{'if 1:' if indented else ''}\n{unit.text}\n")
        node = tree.body[0].body[0] if indented else tree.body[0]
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            raise UnitError(f"the source of {unit.qualified_name} is no function")
        found = [(*pair, None) for pair in annotated_in(node)]
        line = 2
    own = unit.class_name
    return [(mangled(name, own), what, number) for name, what, number in found], line


def _assigned(body: list[Any]) -> Iterable[tuple[str, ast.expr, int | None]]:
    number = 0
    for statement in body:
        is_in = isinstance(statement, ast.If) and not statement.orelse
        for node in statement.body if is_in else [statement]:
            if not isinstance(node, ast.AnnAssign) or not node.simple:
                raise UnitError("the source of annotations has something else")
            assert isinstance(node.target, ast.Name)
            yield node.target.id, node.annotation, number if is_in else None
            number += is_in


def _compile(pairs: Pairs, unit: Unit, line: int) -> CodeType:
    module = quiet.parse_quietly(_frame(unit))
    for node in ast.walk(module):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    inner: Any = module.body[0]
    while inner.name != _NAME:
        inner = inner.body[-1]
    # No name that an annotation can have.
    inner.args.posonlyargs[0].arg = inner.body[0].test.left.id = ".format"
    made = inner.body[-1].value
    for name, what, number in pairs:
        key, value = ast.Constant(name), _value(what, unit)
        made.keys.append(key if number is None else None)
        made.values.append(value if number is None else _if_run(number, key, value))
    tree = ast.fix_missing_locations(module)
    code = quiet.compile_quietly(tree, 0, unit.optimization)
    while code.co_name != _NAME or code.co_flags & CO_FUNCTION != CO_FUNCTION:
        code = next(k for k in code.co_consts if type(k) is CodeType)
    made_code: CodeType = code.replace(co_varnames=("format", *code.co_varnames[1:]))
    return made_code


def _frame(unit: Unit) -> str:
    """The function, without annotations, in scopes that give it its variables."""
    heads = []
    own = unit.class_name
    if unit.free_names:
        heads.append(f"def _({','.join(unit.free_names)}):")
    if own is not None:
        if unit.free_names and own not in unit.free_names and unit.flags & IN_CLASS:
            heads.append(f"global {own}")
        heads.append(f"class {own}:")
    lines = []
    level = 0
    for head in heads:
        lines.append(" " * level + head)
        level += head[-1] == ":"
    lines += [
        f"{' ' * level}def {_NAME}(format, /):",
        f"{' ' * level} if format > 2: raise NotImplementedError",
        f"{' ' * level} return {{}}",
    ]
    return "\n".join(lines) + "\n"


def _if_run(number: int, key: ast.expr, value: ast.expr) -> ast.expr:
    """A dict of one item, if its annotation was reached; else an empty one."""
    reached = ast.Name(_CONDITIONS, ast.Load())
    test = ast.Compare(ast.Constant(number), [ast.In()], [reached])
    return ast.IfExp(test, ast.Dict([key], [value]), ast.Dict([], []))


def _value(annotation: ast.expr, unit: Unit) -> Any:
    if "annotations" in unit.futures:  # They are text there, and stay it.
        return ast.Constant(ast.unparse(annotation))
    if isinstance(annotation, ast.Starred):  # ``*args: *Ts`` is what it has one of.
        whole = ast.Tuple([annotation], ast.Load())
        return ast.Subscript(_in_class(whole, unit), ast.Constant(0), ast.Load())
    return _in_class(annotation, unit)


def _in_class(node: Any, unit: Unit) -> Any:
    if _CLASS_DICT not in unit.free_names:
        return node
    return _Names(unit).visit(node)


class _Names(ast.NodeTransformer):
    """Lets names be those of a class first, as in its body.

    What is nested in an annotation does not see these.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def visit_Name(self, node: ast.Name) -> Any:
        if not isinstance(node.ctx, ast.Load):
            return node
        attributes = ast.Name(_CLASS_DICT, ast.Load())
        key = ast.Constant(mangled(node.id, self.unit.class_name))
        found = ast.IfExp(
            ast.Compare(key, [ast.In()], [attributes]),
            ast.Subscript(attributes, key, ast.Load()),
            node,
        )
        return ast.copy_location(found, node)

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return node

    def _visit_comprehension(self, node: Any) -> Any:
        first = node.generators[0]
        first.iter = self.visit(first.iter)
        return node

    visit_ListComp = visit_SetComp = _visit_comprehension
    visit_DictComp = visit_GeneratorExp = _visit_comprehension
