"""Names in string annotations.

``from __future__ import annotations`` makes strings of all annotations. Their names are
found by compiling the string to code, which is analysed like a function and never run.
Tested by tests/python/functions/test_annotations.py.
"""

from __future__ import annotations

import sys
from types import CodeType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: ``ast.PyCF_ONLY_AST``. ``ast`` loads slowly, so types of nodes are known by names.
_ONLY_AST = 0x400
_MAX_TEXTS = 2048
_MAX_LENGTH = 1024

#: Modules with the types of generic aliases, such as ``list[int]``.
_ALIAS_MODULES = ("types", "typing", "collections.abc")

#: A cache: code by string; None for strings without names.
CODES: dict[str, CodeType | None] = {}


def code_of_annotation(annotation: object, owner: Any = None) -> CodeType | None:
    """Code that loads the names in the strings of an annotation.

    If ``owner`` is given (3.14 and later), ``annotation`` is the function that returns
    the annotations of ``owner``, a function. Returns None if there are no names, or the
    string is not an expression. The extension reads CODES before it calls this.
    """
    if owner is not None:
        annotation = _values_of(annotation, owner)
    texts = [annotation] if type(annotation) is str else _texts_in(annotation)
    text = ", ".join(texts)
    if not text:
        return None
    if text in CODES:
        return CODES[text]
    code = _code_of_expressions(texts)
    if len(text) <= _MAX_LENGTH:
        if len(CODES) >= _MAX_TEXTS:
            CODES.clear()
        CODES[text] = code
    return code


def _values_of(annotate: Any, owner: Any) -> list[object]:
    """The annotations of a function; empty if no string is among them.

    Runs ``annotate``, as any reader of annotations does. A string equal to the name of
    a parameter is taken for that name.
    """
    names = {*owner.__code__.co_varnames, "return"}
    constants = getattr(getattr(annotate, "__code__", None), "co_consts", ())
    has_text = any(type(c) is str and c not in names for c in constants)
    # Methods of a dataclass have the annotations of its fields.
    if not has_text and not hasattr(annotate, "__generated_by_dataclasses__"):
        return []
    try:
        return list(annotate(1).values())
    except (MemoryError, RecursionError):
        raise
    except Exception:  # A name that is not defined yet.
        return []


def _texts_in(annotation: object) -> list[str]:
    """Strings inside of generic types, as in ``list["Name"]``."""
    typing: Any = sys.modules.get("typing")
    # getattr would make typing import annotationlib.
    home = sys.modules.get("annotationlib", typing)
    forward = None if home is None else vars(home).get("ForwardRef")
    found: list[str] = []
    todo: list[Any] = [annotation]
    seen: set[int] = set()  # A list may contain itself.
    while todo:
        part = todo.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if type(part) is forward:
            part = part.__forward_arg__
        if type(part) is str:
            found.append(part)
        elif type(part).__module__ in _ALIAS_MODULES:
            origin = getattr(part, "__origin__", None)
            if typing is None or origin is not typing.Literal:
                arguments = getattr(part, "__args__", ())
                todo += arguments if type(arguments) is tuple else ()
        elif type(part) is list:  # Of the parameters of a Callable.
            todo += part
    return found


def _code_of_expressions(texts: list[str]) -> CodeType | None:
    expressions = []
    todo = texts[::-1]
    while todo:
        text = todo.pop().strip()
        if len(text) > _MAX_LENGTH:  # The compiler recurses, and may run out of stack.
            continue
        try:
            tree: Any = compile(
                text, "<annotation>", "eval", _ONLY_AST, dont_inherit=True
            )
            expression = f"({text}\n)"
            compile(expression, "<annotation>", "eval", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            continue
        except SystemError as error:  # compile() ran out of memory.
            raise MemoryError from error
        expressions.append(expression)
        if "'" in text or '"' in text:
            todo += _texts_of_tree(tree)
    if not expressions:
        return None
    # The body discards the values of the expressions, so that none escapes.
    body = "".join(f"\n {expression}" for expression in expressions)
    module = compile(f"def annotation():{body}\n", "<annotation>", "exec", 0, True)
    codes = [c for c in module.co_consts if type(c) is CodeType]
    return codes[0] if len(codes) == 1 and codes[0].co_names else None


def _texts_of_tree(tree: Any) -> list[str]:
    """Strings that are annotations themselves; not those in Literal and Annotated."""
    found: list[str] = []
    todo = [tree.body]
    while todo:
        node = todo.pop()
        kind = type(node).__name__
        if kind == "Constant":
            if type(node.value) is str:
                found.append(node.value)
        elif kind == "Subscript":
            name = getattr(node.value, "attr", getattr(node.value, "id", ""))
            if name == "Literal":
                continue
            index = node.slice
            if name == "Annotated" and type(index).__name__ == "Tuple":
                index = index.elts[0]
            todo.append(index)
        elif kind == "BinOp":
            todo += [node.left, node.right]
        elif kind in ("Tuple", "List"):
            todo += node.elts
    return found
