# -*- coding: utf-8 -*-
"""Functions whose source is hard to cut out, with calls and what these give.

Read by units_of_modules.py.
"""

import contextlib
import functools
import json
import os.path as path
import types
from collections import OrderedDict as Ordered

pair = lambda x: x + 1, lambda x: x * 2
same = [lambda: 0, lambda: 0, lambda: 0]
nested_lambda = lambda a: (lambda b: (lambda c: a + b + c))
in_defaults = lambda a, f=lambda x: x + 1, g=lambda x: x * 3: g(f(a))
several_lines = (lambda first,
                        second=lambda: """a
   text""": first +
                 second())
after_umlaut = "äöü", lambda: "ä", lambda: "äö"


def with_default(value, key=lambda item: -item, *, other=lambda: [n for n in range(3)]):
    return sorted(value, key=key), other()


def one_line(a): return a; b = 3


def text_in_indent():
    text = """
no indent
	a tab \
 continued"""
    return text, 'café'


@functools.lru_cache(
    maxsize=None,
)
@functools.wraps(one_line)
def decorated(a):  # A comment.

    # Another.
    return a ** 2


def outer(factor):
    count = 0

    def bump():
        nonlocal count
        count += factor
        return count

    def read(): return count, factor
    return bump, read


def shared_closure():
    bump, read = outer(3)
    bump()
    return bump(), read()


def factorial(n): return 1 if n < 2 else n * factorial(n - 1)


def is_even(n):
    return n == 0 or is_odd(n - 1)


def is_odd(n):
    return n != 0 and is_even(n - 1)


def local_recursion(n):
    def fib(k):
        return k if k < 2 else fib(k - 1) + fib(k - 2)
    return fib(n)


def shadows_imports(json, path):
    return json.upper(), path.join("ab"), Ordered.fromkeys("ab").popitem()


def uses_imports():
    return json.dumps([1]), path.join("a", "b")


def generator(n):
    sent = yield n
    yield from (sent * i for i in range(n) if i % 2)


@types.coroutine
def awaitable(n):
    yield
    return n


async def awaits(n):
    return await awaitable(n) + sum([i async for i in counts(n)])


async def counts(n):
    for i in range(n):
        yield i


def run(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as done:
        return done.value


def matches(value):
    match value:
        case {"a": [first, *rest], **others}:
            return first, rest, others
        case int() | float() as number if number > 3:
            return number
        case _:
            return None


def walrus(values):
    return [y for x in values if (y := x * 2) > 2], y


def exceptions(value):
    try:
        return 10 // value
    except ZeroDivisionError as error:
        return type(error).__name__
    finally:
        value = None


def groups():
    try:
        raise ExceptionGroup("both", [ValueError(1), KeyError(2)])
    except* ValueError as found:
        kept = found.exceptions
    except* KeyError:
        pass
    return str(kept)


def formats(value, width=8):
    return f"{value!r:>{width}}|{value:{'0'}{width}}|{'{'}{value=}"


def constants():
    return -0.0, 0.0, 1j, (1, (2.0, "a")), 2 in {1, 2}, b"\0", ..., 10**20, "\N{EN DASH}" \
        if 0 else "\u2028"


def asserts(value):
    """A doc."""
    assert value, "nothing"
    return __debug__ and value


def class_inside(base):
    class Inner(base):
        "A doc."
        kind = base.__name__

        def __init__(self, value):
            super().__init__()
            self.__value = value

        def get(self):
            return self.__value, __class__.__name__, [self.__value for _ in range(2)]

        class Deeper:
            def name(self): return __class__.__qualname__

    return Inner(4).get(), Inner.Deeper().name(), Inner.get.__qualname__, Inner.kind


def global_function():
    global made_global

    def made_global(): return (lambda: made_global.__qualname__)()
    return made_global()


def star_arguments(a, /, b=2, *args, c, d=4, **kwargs): return a, b, args, c, d, kwargs


def conditional(flag):
    if flag:
        def chosen(): return "yes"
    else:
        def chosen(): return "no"
    return chosen()


if True:
	def with_tabs(a):
		if a:
			return [a
    for a in (1, 2)]

	class WithTabs:
		def method(self): return __class__.__name__

		def __private(self):
			return self.__private.__name__

		def call(self):
			return self.__private()


for number in 1, 2:
  def two_spaces(x, n=number):
   return x + n


@contextlib.contextmanager
def manager(log):
    log.append("in")
    try: yield log
    finally: log.append("out")


def with_statement():
    log = []
    with manager(log) as a, manager(log) as b:
        a.append(b is log)
    return log


def _(a): return (lambda _: _ + a)(1)


def __(): return _(2)


def long_condition(a, b):
    return (
        a
        and  # A comment in between.
        not b
    ) or a is b


def returns_lambda_of_comprehension():
    return [f() for f in [lambda i=i: i for i in range(3)]], {k: v for k, v in [(1, 2)]}


def unpacks(first, *others, **more):
    return [*others, first], {**more, "x": 1}, *others


CASES = [
    ("[f(5) for f in pair]", [6, 10]),
    ("[f() for f in same]", [0, 0, 0]),
    ("nested_lambda(1)(2)(3)", 6),
    ("in_defaults(1)", 6),
    ("several_lines('b ')", "b a\n   text"),
    ("[f() for f in after_umlaut[1:]]", ["\xe4", "\xe4\xf6"]),
    ("with_default([1, 3, 2])", ([3, 2, 1], [0, 1, 2])),
    ("one_line(3)", 3),
    ("text_in_indent()", ("\nno indent\n\ta tab  continued", "caf\xe9")),
    ("decorated(3)", 9),
    ("shared_closure()", (6, (6, 3))),
    ("factorial(5)", 120),
    ("is_even(10), is_odd(10)", (True, False)),
    ("local_recursion(9)", 34),
    ("shadows_imports('a', '-')", ("A", "a-b", ("b", None))),
    ("uses_imports()", ("[1]", "a/b")),
    ("(lambda g: [next(g), g.send(2), *g])(generator(4))", [4, 2, 6]),
    ("run(awaits(3))", 6),
    ("matches({'a': [1, 2, 3], 'b': 4})", (1, [2, 3], {"b": 4})),
    ("matches(5), matches(2)", (5, None)),
    ("walrus([1, 2, 3])", ([4, 6], 6)),
    ("exceptions(0), exceptions(2)", ("ZeroDivisionError", 5)),
    ("groups()", "(ValueError(1),)"),
    ("formats(7)", "       7|00000007|{value=7"),
    ("str(constants()[0]), constants()[1:4]", ("-0.0", (0.0, 1j, (1, (2.0, "a"))))),
    ("asserts(3)", 3),
    (
        "class_inside(object)",
        (
            (4, "Inner", [4, 4]),
            "class_inside.<locals>.Inner.Deeper",
            "class_inside.<locals>.Inner.get",
            "object",
        ),
    ),
    ("global_function()", "made_global"),
    ("star_arguments(1, c=3, e=5)", (1, 2, (), 3, 4, {"e": 5})),
    ("conditional(True), conditional(False)", ("yes", "no")),
    ("with_tabs(1), WithTabs().method()", ([1, 2], "WithTabs")),
    ("WithTabs().call()", "__private"),
    ("two_spaces(1)", 3),
    ("with_statement()", ["in", "in", True, "out", "out"]),
    ("__()", 3),
    ("long_condition(1, 0)", True),
    ("returns_lambda_of_comprehension()", ([0, 1, 2], {1: 2})),
    ("unpacks(1, 2, y=3)", ([2, 1], {"y": 3, "x": 1}, 2)),
]
