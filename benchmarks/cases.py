"""The workloads that the benchmarks measure, by name.

Functions are made from source as if they stood in __main__, so that every serializer
has to send them by value.
"""

import asyncio
import collections
import contextlib
import dataclasses
import random
import re
import sys
import types

# ---- Functions and classes ---------------------------------------------------------

IMPORTS = "import asyncio, collections, math, re, struct, time\n"


def define(source, name="f"):
    """What `source` calls `name`; a new code object each time."""
    namespace = {"__name__": "__main__"}
    exec(compile(IMPORTS + source, "<benchmark>", "exec"), namespace)
    return namespace[name]


def names_modules():
    return define("def f(): return [time, struct, math]")


def names_packages():
    return define("def f(): return [collections, re, asyncio]")


def closure():
    return define(
        "def outer(package, factor):\n"
        "    def inner(x): return package.abc.Mapping, [x * factor, math.pi]\n"
        "    return inner\n"
        "f = outer(collections, 3)"
    )


def dynamic_class():
    return define(
        "class f:\n"
        "    scale = 2\n"
        "    def __init__(self, x): self.x = x\n"
        "    def area(self): return math.pi * self.scale * self.x\n"
        "    @property\n"
        "    def name(self): return re.escape(str(self.x))\n"
    )


def instance():
    return dynamic_class()(21)


CALLABLES = {
    "function, 3 modules": names_modules,
    "function, 3 packages": names_packages,
    "closure over a package": closure,
    "class": dynamic_class,
    "its instance": instance,
}


def never_seen(count):
    """Functions whose code is unlike any that was there before."""
    salts = [random.getrandbits(60) for _ in range(count)]
    return [
        define(f"def f(x): return [collections, re, asyncio, x + {salt}]")
        for salt in salts
    ]


def tasks(count):
    """What a scheduler sends: one function, many arguments."""
    function = names_packages()
    return [(function, (i, f"part-{i}"), {"retries": 3}) for i in range(count)]


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
        # Deleting leaves holes, which everybody who walks the dict has to pass over.
        sys.modules.clear()
        sys.modules.update(kept)


def packages_are_loaded():
    """The packages that names_packages() names are there before anything is timed."""
    return [asyncio, collections, re]


# ---- Plain data --------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: float
    y: float
    label: str


def records(count=10_000):
    return [
        {"id": i, "name": f"user {i}", "score": i * 0.5, "tags": ["new", "paid"]}
        for i in range(count)
    ]


def floats(count=100_000):
    generator = random.Random(1)
    return [generator.random() for _ in range(count)]


def strings(count=50_000):
    return [f"value number {i}" for i in range(count)]


def nested(depth=12):
    return [nested(depth - 1), nested(depth - 1)] if depth else [1, None, "leaf"]


def dataclass_objects(count=10_000):
    return [Point(i * 0.5, i * 2.0, f"point {i}") for i in range(count)]


def big_dict(count=100_000):
    return {f"key {i}": i for i in range(count)}


DATA = {
    "records": records,
    "floats": floats,
    "strings": strings,
    "nested lists": nested,
    "dataclasses": dataclass_objects,
    "big dict": big_dict,
}
