"""The functions and classes that the benchmarks send, by name.

They are made from source as if defined in __main__, so that every serializer must send
them by value.
"""

import asyncio
import collections
import contextlib
import random
import re
import sys
import types
from collections.abc import Callable
from typing import NamedTuple

IMPORTS = "import asyncio, collections, math, re, struct, time\n"


def define(source, name="f"):
    """The object that `source` defines as `name`; with a new code object each time."""
    namespace = {"__name__": "__main__"}
    exec(compile(IMPORTS + source, "<benchmark>", "exec"), namespace)
    return namespace[name]


def step(salt):
    """A statement that makes the code around it unique."""
    return "" if salt is None else f"salt = {salt}; "


def names_modules(salt=None):
    return define(f"def f(): {step(salt)}return [time, struct, math]")


def names_packages(salt=None):
    return define(f"def f(): {step(salt)}return [collections, re, asyncio]")


def closure(salt=None):
    return define(
        "def outer(package, factor):\n"
        f"    def inner(x): {step(salt)}"
        "return package.abc.Mapping, [x * factor, math.pi]\n"
        "    return inner\n"
        "f = outer(collections, 3)"
    )


def dynamic_class(salt=None):
    return define(
        "class f:\n"
        "    scale = 2\n"
        "    def __init__(self, x): self.x = x\n"
        f"    def area(self): {step(salt)}return math.pi * self.scale * self.x\n"
        "    @property\n"
        "    def name(self): return re.escape(str(self.x))\n"
    )


def instance(salt=None):
    return dynamic_class(salt)(21)


class Case(NamedTuple):
    make: Callable[..., object]  # Takes the salt, or nothing.
    probe: str  # An expression of `value` that shows whether it works.


CALLABLES = {
    "function, 3 modules": Case(names_modules, "[m.__name__ for m in value()]"),
    "function, 3 packages": Case(names_packages, "[m.__name__ for m in value()]"),
    "closure over a package": Case(closure, "value(2)"),
    "class": Case(dynamic_class, "value(21).area(), value(21).name"),
    "its instance": Case(instance, "value.area(), value.name"),
}


def make_unseen(make, count):
    """Objects with code that no cache can hold."""
    return [make(random.getrandbits(60)) for _ in range(count)]


def tasks(count):
    """Tasks as of a scheduler: one function, many arguments."""
    function = names_packages()
    return [(function, (i, f"part-{i}"), {"retries": 3}) for i in range(count)]


TASK = Case(lambda: tasks(1)[0], "[m.__name__ for m in value[0]()], value[1:]")


@contextlib.contextmanager
def modules_loaded(count):
    """Fills sys.modules up to `count` entries."""
    before = set(sys.modules)
    if count < len(before):
        raise ValueError(f"{len(before)} modules are loaded already")
    for i in range(count - len(before)):
        name = f"synthetic_{i % 997}.module_{i}"
        sys.modules[name] = types.ModuleType(name)
    try:
        yield
    finally:
        kept = {name: sys.modules[name] for name in sys.modules if name in before}
        # Rebuilt, since deletions leave empty slots that slow down iteration.
        sys.modules.clear()
        sys.modules.update(kept)


def load_packages():
    """Loads the packages of names_packages() before anything is timed."""
    return [asyncio, collections, re]
