"""Index of a source file: places of its functions, and names at its top level. Tested
by tests/python/source/test_proving.py."""

from __future__ import annotations

import _ast
import sys
from bisect import bisect_left

from waybill._api.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

LAMBDA_NAME = "<lambda>"
_FUNCTIONS = _ast.FunctionDef, _ast.AsyncFunctionDef
_TYPE_ALIAS = getattr(_ast, "TypeAlias", None)  # 3.12 and later.
_COMPREHENSIONS = _ast.ListComp, _ast.SetComp, _ast.DictComp, _ast.GeneratorExp
#: Fields of nodes that hold statements, or nodes with such fields.
_BLOCKS = "body", "orelse", "finalbody", "handlers", "cases"
#: Fields with annotations of arguments, variables and functions.
_ANNOTATIONS = "annotation", "returns"


class Scope(NamedTuple):
    """The scope that contains a statement or an expression."""

    class_name: str | None
    is_in_class: bool
    is_nested: bool
    is_module: bool


class Place(NamedTuple):
    """The place of a function or type alias: lines from 1, columns in bytes from 0."""

    is_lambda: bool
    line: int
    end_line: int
    column: int
    end_column: int
    scope: Scope


class AnnotatedDefinition(NamedTuple):
    """A function or a class whose annotations have code of their own."""

    name: str
    #: For a function, its header; for a class, its text below the first line.
    place: Place
    #: For a class, a row for each annotated name: line and column of the name, of the
    #: end of the annotation, and of the value (without one, of that end again); whether
    #: it is in a conditional block.
    pieces: tuple[tuple[int, int, int, int, int, int, bool], ...]


#: Since 3.14 annotations are evaluated on first access (PEP 649).
DEFERRED = sys.version_info >= (3, 14)


class Index:
    """The functions of a file, by name and first line with decorators."""

    __slots__ = ("annotated", "imports", "names_super", "places")

    def __init__(self, tree: Any, lambda_lines: list[int], has_super: bool) -> None:
        self.places: dict[tuple[str, int], list[Place]] = {}
        #: By the line of the ``def``, or the first of a class and its decorators.
        self.annotated: dict[int, list[AnnotatedDefinition]] = {}
        #: Names that import statements bind at the top level.
        self.imports: set[str] = set()
        self.names_super = has_super and _names_super(tree)
        self._read(tree, lambda_lines)

    def _read(self, tree: Any, lambda_lines: list[int]) -> None:
        # An explicit stack: trees may be deeper than Python's recursion limit.
        todo = [(tree.body, Scope(None, False, False, True))]
        while todo:
            body, scope = todo.pop()
            for node in body:
                kind = type(node)
                inner = scope
                if kind in _FUNCTIONS:
                    self._add(node.name, _first_line(node), False, node, scope)
                    if DEFERRED:
                        self._add_annotated_function(node, scope)
                    inner = _function_in(scope)
                elif kind is _ast.ClassDef:
                    nested = scope.is_nested or bool(getattr(node, "type_params", ()))
                    inner = Scope(node.name, True, nested, False)
                    if DEFERRED:
                        self._add_annotated_class(node, inner)
                elif kind is _TYPE_ALIAS:  # A function evaluates its value.
                    self._add(node.name.id, node.lineno, False, node, scope)
                elif kind in (_ast.Import, _ast.ImportFrom) and scope.is_module:
                    self.imports.update(_bound_names(node))
                for field in _BLOCKS:
                    below = getattr(node, field, None)
                    if type(below) is list and kind is not _ast.Lambda:
                        todo.append((below, inner))
                if lambda_lines and _has_line(node, lambda_lines):
                    self._read_expressions(_scoped_parts(node, scope, _BLOCKS))

    def _read_expressions(self, todo: list[tuple[Any, Scope]]) -> None:
        while todo:
            node, scope = todo.pop()
            if type(node) is _ast.Lambda:
                self._add(LAMBDA_NAME, node.lineno, True, node, scope)
                todo += [(part, scope) for part in _parts(node.args)]
                todo.append((node.body, _function_in(scope)))
            elif type(node) in _COMPREHENSIONS:
                # The first iterable is evaluated outside of the comprehension.
                first = node.generators[0]
                todo.append((first.iter, scope))
                inner = _function_in(scope)
                todo += [(part, inner) for part in _parts(node, ("generators",))]
                todo += [(part, inner) for part in _parts(first, ("iter",))]
                todo += [(part, inner) for part in node.generators[1:]]
            else:
                todo += _scoped_parts(node, scope)

    def _add(
        self, name: str, line: int, is_lambda: bool, node: Any, scope: Scope
    ) -> None:
        place = Place(
            is_lambda,
            node.lineno,
            node.end_lineno,
            node.col_offset,
            node.end_col_offset,
            scope,
        )
        self.places.setdefault((name, line), []).append(place)

    def _add_annotated_function(self, node: Any, scope: Scope) -> None:
        if next(iterate_annotations(node), None) is None:
            return
        first = node.body[0]
        end = _first_line(first), first.col_offset
        place = Place(False, node.lineno, end[0], node.col_offset, end[1], scope)
        found = AnnotatedDefinition(node.name, place, ())
        self.annotated.setdefault(node.lineno, []).append(found)

    def _add_annotated_class(self, node: Any, inner: Scope) -> None:
        pieces = tuple(_pieces(node.body, False))
        if not pieces:
            return
        line = _first_line(node)
        place = Place(False, line, pieces[-1][2], node.body[0].col_offset, 0, inner)
        found = AnnotatedDefinition(node.name, place, pieces)
        self.annotated.setdefault(line, []).append(found)


def iterate_annotations(function: Any) -> Iterator[tuple[str, Any]]:
    """(name, annotation) for each argument and the result of a function."""
    given = function.args
    ordered = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs]
    for argument in (*ordered, given.kwarg):
        if argument is not None and argument.annotation is not None:
            yield argument.arg, argument.annotation
    if function.returns is not None:
        yield "return", function.returns


def _pieces(body: list[Any], is_conditional: bool) -> Iterator[Any]:
    """The annotated names in the body of a class, in order; see AnnotatedDefinition."""
    for node in body:
        kind = type(node)
        if kind is _ast.AnnAssign and node.simple:
            yield *_piece(node), is_conditional
        elif kind not in (*_FUNCTIONS, _ast.ClassDef):
            for field in _BLOCKS:
                below = getattr(node, field, None)
                if type(below) is list:
                    yield from _pieces(below, True)


def _piece(node: Any) -> tuple[int, int, int, int, int, int]:
    start = node.lineno, node.col_offset
    if node.value is None:
        end = node.end_lineno, node.end_col_offset
        return *start, *end, *end
    end = node.annotation.end_lineno, node.annotation.end_col_offset
    return *start, *end, node.value.lineno, node.value.col_offset


def _function_in(scope: Scope) -> Scope:
    return Scope(scope.class_name, False, True, False)


def _first_line(node: Any) -> int:
    decorators = getattr(node, "decorator_list", ())
    line: int = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return line


def _has_line(node: Any, lines: list[int]) -> bool:
    """Whether a node covers one of these lines, which are in ascending order."""
    if not hasattr(node, "lineno"):  # A case of a match statement.
        return True
    index = bisect_left(lines, _first_line(node))
    return index < len(lines) and lines[index] <= node.end_lineno


def _parts(node: Any, excluded: tuple[str, ...] = ()) -> list[Any]:
    """The direct children of a node, without those in some fields."""
    found = []
    for field in node._fields:
        if field in excluded:
            continue
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [part for part in value if isinstance(part, _ast.AST)]
        elif isinstance(value, _ast.AST):
            found.append(value)
    return found


def _scoped_parts(
    node: Any, scope: Scope, excluded: tuple[str, ...] = ()
) -> list[tuple[Any, Scope]]:
    """The direct children of a node, with the scope of each: deferred annotations are
    in a function of their own."""
    found = [(part, scope) for part in _parts(node, (*excluded, *_ANNOTATIONS))]
    inner = _function_in(scope) if DEFERRED else scope
    for field in _ANNOTATIONS:
        annotation = getattr(node, field, None)
        if isinstance(annotation, _ast.AST):
            found.append((annotation, inner))
    return found


def _bound_names(node: Any) -> list[str]:
    if type(node) is _ast.Import:
        return [a.asname or a.name.partition(".")[0] for a in node.names]
    return [a.asname or a.name for a in node.names if a.name != "*"]


def _names_super(tree: Any) -> bool:
    """Whether the module scope itself names ``super``.

    Annotations and comprehensions count: some versions compile them into that scope.
    """
    todo: list[Any] = list(tree.body)
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is _ast.Name and node.id == "super":
            return True
        if "super" in (getattr(node, "name", None), getattr(node, "rest", None)):
            return True  # A function, a class, an exception variable, a pattern.
        if kind in (_ast.Import, _ast.ImportFrom) and "super" in _bound_names(node):
            return True
        if kind is _ast.Lambda:
            todo += _parts(node.args)
        else:
            is_scope = kind in _FUNCTIONS or kind is _ast.ClassDef
            todo += _parts(node, ("body",) if is_scope else ())
    return False
