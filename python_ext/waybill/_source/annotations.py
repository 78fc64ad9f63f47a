"""Deferred annotations (PEP 649) for versions before 3.14.

Since 3.14 a function or a class has an ``__annotate__`` function that returns its
annotations. Older receivers compile an equivalent function from the syntax tree. Tested
by tests/python/source/test_annotate.py.
"""

from __future__ import annotations

import ast
from types import CodeType, FunctionType

from waybill._classes.parts import mangle
from waybill._source import quiet, units
from waybill._source.index import iterate_annotations
from waybill._source.units import UnitError
from waybill._source.wrapping import indent_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from waybill._source.units import Unit

    #: (name, annotation, number) in source order. The number counts the annotations in
    #: conditional blocks; None outside of such blocks.
    Annotations: TypeAlias = list[tuple[str, ast.expr, int | None]]

#: Closure variables: the class namespace, the executed conditional annotations.
_CLASS_DICT, _CONDITIONS = "__classdict__", "__conditional_annotations__"
_NAME = "__annotate__"
#: As ``annotationlib.Format.VALUE``.
_VALUE = 1


def evaluate_annotations(annotate: Any, unit: Unit) -> dict[str, Any]:
    """The annotations of ``annotate``; those that cannot be evaluated as source
    text."""
    try:
        return dict(annotate(_VALUE))
    except Exception:
        found: dict[str, Any] = {}
    if unit.kind not in (units.ANNOTATE, units.CLASS_ANNOTATE):
        return found
    pairs, line = _read_annotations(unit)
    cells = dict(
        zip(annotate.__code__.co_freevars, annotate.__closure__ or (), strict=True)
    )
    for name, annotation, number in pairs:
        text = ast.unparse(annotation)
        try:
            code = _compile([(name, annotation, number)], unit, line)
            closure = tuple(cells[free] for free in code.co_freevars)
            evaluate = FunctionType(code, annotate.__globals__, _NAME, (), closure)
            found.update(evaluate(_VALUE))
        except Exception:
            found[name] = text
    return found


def compile_annotations(unit: Unit) -> tuple[CodeType, int]:
    """(code of an ``__annotate__`` function for a unit, lines above the unit in the
    compiled text), for versions whose compiler makes no such function."""
    pairs, line = _read_annotations(unit)
    return _compile(pairs, unit, line), line - 1


def _read_annotations(unit: Unit) -> tuple[Annotations, int]:
    """The annotations, and the line of the parsed text at which the unit begins."""
    if unit.kind == units.CLASS_ANNOTATE:
        below = " " if unit.column else "\n"
        tree = quiet.parse_quietly(f"class _:{below}{unit.text}\n")
        found = list(_class_annotations(tree.body[0].body))
        line = 1
    else:
        indented = bool(indent_of(unit.text))
        tree = quiet.parse_quietly(f"{'if 1:' if indented else ''}\n{unit.text}\n")
        node = tree.body[0].body[0] if indented else tree.body[0]
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            raise UnitError(f"the source of {unit.qualified_name} is not a function")
        found = [(*pair, None) for pair in iterate_annotations(node)]
        line = 2
    own = unit.class_name
    return [(mangle(name, own), node, number) for name, node, number in found], line


def _class_annotations(body: list[Any]) -> Iterable[tuple[str, ast.expr, int | None]]:
    number = 0
    for statement in body:
        is_conditional = isinstance(statement, ast.If) and not statement.orelse
        for node in statement.body if is_conditional else [statement]:
            if not isinstance(node, ast.AnnAssign) or not node.simple:
                raise UnitError(
                    "the source of annotations has statements that annotate no name"
                )
            assert isinstance(node.target, ast.Name)
            yield node.target.id, node.annotation, number if is_conditional else None
            number += is_conditional


def _compile(pairs: Annotations, unit: Unit, line: int) -> CodeType:
    module = quiet.parse_quietly(_function_text(unit))
    for node in ast.walk(module):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
            node.col_offset = node.end_col_offset = 0  # type: ignore[attr-defined]
    inner: Any = module.body[0]
    while inner.name != _NAME:
        inner = inner.body[-1]
    # A name that no annotation can use.
    inner.args.posonlyargs[0].arg = inner.body[0].test.left.id = ".format"
    result = inner.body[-1].value
    for name, annotation, number in pairs:
        key, value = ast.Constant(name), _value_expression(annotation, unit)
        result.keys.append(key if number is None else None)
        result.values.append(
            value if number is None else _if_executed(number, key, value)
        )
    tree = ast.fix_missing_locations(module)
    code = quiet.compile_quietly(tree, 0, unit.optimization)
    while code.co_name != _NAME or not units.is_function(code):
        code = next(k for k in code.co_consts if type(k) is CodeType)
    made_code: CodeType = code.replace(co_varnames=("format", *code.co_varnames[1:]))
    return made_code


def _function_text(unit: Unit) -> str:
    """The function without annotations, in scopes that define its free variables."""
    heads = []
    own, free = unit.class_name, unit.free_names
    if free:
        heads.append(f"def _({','.join(free)}):")
    if own is not None:
        if free and own not in free and unit.flags & units.IN_CLASS:
            heads.append(f"global {own}")
        heads.append(f"class {own}:")
    heads.append(f"def {_NAME}(format, /):")
    heads += "if format > 2: raise NotImplementedError", "return {}"
    text, level = "", 0
    for head in heads:
        text += f"{' ' * level}{head}\n"
        level += head[-1] == ":"
    return text


def _if_executed(number: int, key: ast.expr, value: ast.expr) -> ast.expr:
    """An expression: a dict of one item if the annotation was executed, else empty."""
    reached = ast.Name(_CONDITIONS, ast.Load())
    test = ast.Compare(ast.Constant(number), [ast.In()], [reached])
    return ast.IfExp(test, ast.Dict([key], [value]), ast.Dict([], []))


def _value_expression(annotation: ast.expr, unit: Unit) -> Any:
    if "annotations" in unit.futures:  # The future import makes them strings.
        return ast.Constant(ast.unparse(annotation))
    if isinstance(annotation, ast.Starred):  # ``*args: *Ts``: the one item of *Ts.
        whole = ast.Tuple([annotation], ast.Load())
        return ast.Subscript(
            _add_class_lookup(whole, unit), ast.Constant(0), ast.Load()
        )
    return _add_class_lookup(annotation, unit)


def _add_class_lookup(node: Any, unit: Unit) -> Any:
    if _CLASS_DICT not in unit.free_names:
        return node
    return _ClassLookup(unit).visit(node)


class _ClassLookup(ast.NodeTransformer):
    """Makes names look in the class namespace first, as in the class body.

    Scopes nested in an annotation do not see the class namespace.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def visit_Name(self, node: ast.Name) -> Any:
        if not isinstance(node.ctx, ast.Load):
            return node
        attributes = ast.Name(_CLASS_DICT, ast.Load())
        key = ast.Constant(mangle(node.id, self.unit.class_name))
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
