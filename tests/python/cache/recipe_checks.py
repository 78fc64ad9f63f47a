"""What a payload gives that the decode cache serves, against what reading it gives."""

import re
import sys
import types

import waybill
from sources import define
from without_caches import without_caches


def is_of_a_module(function):
    return function.__globals__["__name__"] in sys.modules


def described(value, seen=None):
    """All of a value that can be seen; what holds others, by its parts."""
    seen = {} if seen is None else seen
    if isinstance(value, (types.ModuleType, type, types.BuiltinFunctionType)):
        return value
    if value is None or isinstance(value, (int, float, str, bytes, complex)):
        return type(value), repr(value)  # NaN is not equal to itself.
    if id(value) in seen:
        return "seen", seen[id(value)][0]
    # Held: what is made here would give its id to what is made after it.
    seen[id(value)] = (len(seen), value)

    def parts(items):
        return [described(item, seen) for item in items]

    if isinstance(value, types.FunctionType) and is_of_a_module(value):
        return value
    if isinstance(value, types.FunctionType):
        scope = {k: v for k, v in value.__globals__.items() if k != "__builtins__"}
        return [
            value.__code__,
            list(value.__code__.co_lines()),
            value.__code__.co_filename,
            value.__builtins__ is sys.modules["builtins"].__dict__,
            *parts([value.__name__, value.__qualname__, value.__module__]),
            *parts([value.__doc__, value.__defaults__, value.__kwdefaults__]),
            *parts([value.__annotations__, value.__dict__, scope, value.__closure__]),
        ]
    if isinstance(value, types.CellType):
        try:
            return "cell", described(value.cell_contents, seen)
        except ValueError:
            return "an empty cell"
    if isinstance(value, dict):
        return dict, [
            (described(k, seen), described(v, seen)) for k, v in value.items()
        ]
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value), parts(value)
    if type(value).__repr__ is object.__repr__:
        return type(value), described(vars(value), seen)
    return type(value), re.sub("0x[0-9a-f]+", "0x", repr(value))


def hits():
    return waybill.cache_info()["received"]["hits"]


def warm(payload):
    for _ in range(4):
        value = waybill.loads(payload)
    return value


def served(payload):
    before = hits()
    value = waybill.loads(payload)
    return value, hits() - before


def demand_served_as_read(payload):
    """The cache serves it, and gives what `loads` without caches gives."""
    with without_caches():
        expected = described(waybill.loads(payload))
    first = warm(payload)

    again, count = served(payload)

    assert count == 1
    assert described(again) == described(first) == expected


def demand_alike(payload):
    with without_caches():
        expected = described(waybill.loads(payload))

    assert [described(waybill.loads(payload)) for _ in range(5)] == [expected] * 5


def function_of(source):
    scope = define(source, **{name: sys.modules[name] for name in MODULES})
    return scope.f


MODULES = ["module_one", "module_two"]
PLACES = {
    "alone": lambda f: f,
    "in a task": lambda f: (f, (1, ["a"]), {"k": 2.5}),
    "in a task with long text": lambda f: (f, ("long " * 50,), {}),
    "twice": lambda f: [f, {"again": f}],
    "after data": lambda f: [{"x": 1}, "text", f],
    "before an object": lambda f: (f, bytearray(b"x")),
}
