"""Syntax of 3.14 and later: deferred annotations, template strings.

Read by units_of_modules.py.
"""

import annotationlib


def later(a: Later, *args: *Ts, b: "text" = 3, __c: int = 4, **rest: Later) -> Missing:
    return a


def Ts(): ...


class Annotated:
    scale = int
    first: scale; second: list[scale] = (1,
                                         2)

    __private: Later = None
    (in_parentheses): int

    third: (
        int | str  # A comment.
    ) = None

    def method(self, a: scale, __b: "Annotated") -> scale: ...

    def generic[T](self, a: T, b: scale) -> T: ...


def local(kind):
    class Made:
        a: kind
        b: Later

        def method(self, x: kind) -> Made: ...

    def function(x: kind, y: Made): ...

    return Made, function


def templates(name):
    made = t"hello {name!r:>{3}}"
    return made.strings, made.interpolations[0].value


def without_parentheses(value):
    try:
        return int(value)
    except ValueError, TypeError:
        return None


class OneLine: first: int = 1; second: list[Later] = None


flag = True


class Conditional:
    always: int
    if flag:
        reached: Later = 1; also: (
            str | None) = None
    else:
        never: Later
    for kind in int, str:
        looped: kind
    match flag:
        case True:
            matched: lambda: Later


def with_lambdas(kind):
    class Made:
        a: (lambda: kind)
        if flag:
            b: lambda: kind

        def method(self, x: (lambda: kind), *y: [k for k in (kind,)]): ...

    def function(x: (lambda: kind)) -> (lambda: Made): ...

    return Made, function


def names_of(annotated):
    return list(annotationlib.get_annotations(annotated, format=Format.FORWARDREF))


Format = annotationlib.Format
Later = bytes

CASES = [
    ("names_of(later)", ["a", "args", "b", "__c", "rest", "return"]),
    (
        "list(Annotated.__annotations__)",
        ["first", "second", "_Annotated__private", "third"],
    ),
    ("Annotated.__annotations__['first']", int),
    ("list(Annotated.method.__annotations__)", ["a", "_Annotated__b", "return"]),
    ("local(str)[0].__annotations__", {"a": str, "b": bytes}),
    ("local(str)[1].__annotations__['x']", str),
    ("OneLine.__annotations__", {"first": int, "second": list[bytes]}),
    (
        "list(Conditional.__annotations__)",
        ["always", "reached", "also", "looped", "matched"],
    ),
    ("Conditional.__annotations__['looped'] is Conditional.kind", True),
    ("[f() for f in with_lambdas(str)[0].__annotations__.values()]", [str, str]),
    ("with_lambdas(int)[0].method.__annotations__['x']()", int),
    ("with_lambdas(int)[1].__annotations__['return']().__name__", "Made"),
    ("templates('a')", (("hello ", ""), "a")),
    ("without_parentheses('x'), without_parentheses('4')", (None, 4)),
]
