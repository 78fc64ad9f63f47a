"""Makes the golden payloads of the Python that runs this.

    python tests/golden/make_golden.py [--force]

writes v1/<name>-<version>.waybill and, beside each, what inspect() says of it. Files
that are there stay as they are: format version 1 must read them for ever. --force
replaces them, which is for the time before the first release only.
"""

import json
import linecache
import sys
from pathlib import Path

import waybill

FOLDER = Path(__file__).resolve().parent / "v1"

# Each leaves `made`, and says in `check(value)` what it must be once it is loaded.
SOURCES = {
    "data": """
made = {
    "none": None, "bools": [True, False], "dots": [..., NotImplemented],
    "ints": [0, -1, 127, 128, -33, 65536, 2**63, 2**64, -(2**63) - 1, 2**100],
    "floats": [0.0, -0.0, 1.5, float("inf")], "complex": 1 - 2j,
    "text": ["", "plain", "\\u00e4\\u4e2d\\U0001f600", "\\udc80"],
    "bytes": [b"", b"\\x00\\xff"], "bytearray": bytearray(b"abc"),
    "tuple": (1, (2, ())), "set": {3, 1, 2}, "frozenset": frozenset({"b", "a"}),
    "slice": slice(1, None, -1), "range": range(0, 10, 3), 5: {"nested": [{}]},
}
def check(value): return value == make()["made"]
""",
    "function": '''
scale = 3
def made(a, /, b: int = 2, *rest, c: str = "x", **more) -> tuple:
    """Some text."""
    return a * scale, b, rest, c, more, __name__
def check(value):
    return (value(1, 4, 5, c=6, d=7) == (3, 4, (5,), 6, {"d": 7}, "golden")
            and value.__doc__ == "Some text." and value.__defaults__ == (2,)
            and value.__kwdefaults__ == {"c": "x"} and value.__qualname__ == "made")
''',
    "closure": """
def counter(start):
    count = start
    def step(by=1):
        nonlocal count
        count += by
        return count
    def read():
        return count
    return step, read
made = counter(5)
def check(value):
    value[0](2)
    return value[1]() == 7
""",
    "shared": """
inner = ["inner"]
loop = {"inner": inner, "again": inner}
loop["self"] = loop
pair = (loop, [])
pair[1].append(pair)
made = [inner, loop, pair, {"deep": [inner, pair]}]
def check(value):
    inner, loop, pair, last = value
    return (loop["inner"] is loop["again"] is inner is last["deep"][0]
            and loop["self"] is loop is pair[0]
            and pair[1][0] is pair is last["deep"][1])
""",
    "class": '''
class Base:
    """Some text."""
    kinds = ["a"]
    def __init__(self, x): self.x = x
    def get(self): return self.x
    @property
    def double(self): return self.x * 2
    @classmethod
    def make(cls, x): return cls(x)
    @staticmethod
    def plain(x): return x
class Derived(Base):
    __slots__ = ("extra",)
    def get(self): return super().get() + 1
made = [Derived, Base(7), Base]
def check(value):
    derived, instance, base = value
    return (derived(3).get() == 4 and instance.double == 14 and type(instance) is base
            and derived.make(1).x == base.plain(1) and base.__doc__ == "Some text.")
''',
    "imports": """
import json
import os.path as paths
import xml.dom.minidom
def made(text):
    import textwrap
    inner = lambda: xml.dom.minidom.parseString("<a/>").documentElement.tagName
    return json.loads(text), paths.basename("a/b"), inner(), textwrap.dedent(" x")
def check(value): return value("[1]") == ([1], "b", "a", "x")
""",
    "nested": """
def made(items):
    squares = [x * x for x in items if x]
    table = {x: {y for y in "ab"} for x in items}
    total = sum(x for x in squares)
    async def later(): return total
    def generate():
        got = yield from (x for x in squares)
        yield got
    class Local:
        value = total
        def get(self): return self.value, squares
    try:
        later().send(None)
    except StopIteration as stop:
        with_default = lambda x=stop.value, *, y=(1, 2.5, None, ..., "s"): (x, y)
    match items:
        case [first, *_]: found = first
        case _: found = None
    return total, list(generate()), Local().get(), with_default(), found, len(table)
def check(value):
    return value([1, 2]) == (
        5, [1, 4, None], (5, [1, 4]), (5, (1, 2.5, None, ..., "s")), 1, 2)
""",
    "objects": """
import collections, datetime, decimal, functools
def add(a, b): return a + b
made = [
    datetime.date(2024, 2, 29), decimal.Decimal("1.50"), collections.deque([1], 3),
    collections.OrderedDict(b=1, a=2), functools.partial(add, 1), [].append, ValueError(1),
    datetime.date, len, collections.OrderedDict.fromkeys,
]
def check(value):
    return (str(value[0]) == "2024-02-29" and str(value[1]) == "1.50"
            and value[2].maxlen == 3 and list(value[3]) == ["b", "a"] and value[4](2) == 3
            and value[6].args == (1,) and value[7] is datetime.date and value[8] is len)
""",
    "source": '''
import dataclasses, enum, functools, typing
rate = 3
def scaled(values, by=rate):
    return [value * by for value in values]
def counter(start):
    def step(by=1):
        nonlocal start
        start += by
        return start
    return step, lambda: start
class Model:
    """Some text."""
    def __init__(self, bias): self.__bias = bias
    def predict(self, x): return scaled([x])[0] + self.__bias
class Better(Model):
    def predict(self, x): return super().predict(x) + len(__class__.__name__)
@dataclasses.dataclass(order=True, slots=True)
class Point:
    x: int
    y: list = dataclasses.field(default_factory=list)
    z: float = dataclasses.field(default=1.5, kw_only=True)
    def total(self): return self.x + sum(self.y) + self.z
class Color(enum.Enum):
    RED = enum.auto()
    BLUE = enum.auto()
    @property
    def low(self): return self.name.lower()
class Pair(typing.NamedTuple):
    left: int
    right: str = "r"
    def both(self): return self.left, self.right
async def later(x):
    async def items():
        for i in range(x): yield i
    return [i async for i in items()]
def kind(x):
    match x:
        case {"k": [first, *_]}: return first
        case Point(x=1): return "point"
        case int() | str(): return "plain"
def rich(a: int, /, b: "Model | None" = None, *c: list[int], d: typing.Optional[str] = None,
         **e: typing.Callable[[int], str]) -> dict[str, Point]: return a
@functools.lru_cache
def cached(n): return n if n < 2 else cached(n - 1) + cached(n - 2)
made = [scaled, counter(5), Better(4), Point, Point(1, [2]), Color, Pair(1), later, kind,
        rich, cached, lambda x, y=lambda: 2: x + y()]
def check(value):
    import typing
    scaled, (step, read), model, kind, point, color, pair, later, match, rich, cached, add = value
    step(2)
    try:
        later(3).send(None)
    except StopIteration as stop:
        items = stop.value
    return (scaled([1, 2]) == [3, 6] and read() == 7 and model.predict(1) == 13
            and type(model).__mro__[1].__doc__ == "Some text." and type(point) is kind
            and point.total() == 4.5 and kind(1) < kind(2) and repr(kind(1, z=2))
            == "Point(x=1, y=[], z=2)" and not hasattr(point, "__dict__")
            and color["RED"].low == "red" and color(2).name == "BLUE"
            and pair.both() == (1, "r") and pair._replace(left=2) == (2, "r")
            and items == [0, 1, 2] and match(kind(1)) == "point" and match("a") == "plain"
            and match({"k": [5, 6]}) == 5 and rich(1) == 1 and cached(10) == 55
            and sorted(rich.__annotations__) == ["a", "b", "c", "d", "e", "return"]
            and rich.__annotations__["c"] == list[int]
            and rich.__annotations__["d"] == typing.Optional[str] and add(1) == 3)
''',
    "compressed": """
numbers = b"".join(i.to_bytes(8, "little") for i in range(0, 90_000, 7))
made = {
    "text": b"one line as the other\\n" * 4000, "numbers": bytearray(numbers),
    "blocks": bytes(range(256)) * 4099, "again": [numbers, numbers], "small": b"abc",
}
def check(value): return value == make()["made"] and type(value["numbers"]) is bytearray
""",
}

# Options of dumps. What zstd writes is not the same in each of its releases: a payload
# that is compressed stands for what has to be read, and not for what is written.
OPTIONS = {"compressed": {"compress": ("zstd", 19)}, "source": {"source": True}}


def scope_of(name):
    """The globals of a golden source, whose functions no import finds."""
    scope = {"__name__": "golden"}
    scope["make"] = lambda: scope_of(name)
    text, file = SOURCES[name], f"golden_{name}.py"
    # Where the source of code is looked for that has no file.
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), scope)
    return scope


def report_of(name, data):
    """What inspect() says of a payload; of large ones without the outline."""
    report = waybill.inspect(data)
    if name == "source":
        del report["payload"]
    return report


def version():
    return "{}.{}".format(*sys.version_info)


def main():
    FOLDER.mkdir(exist_ok=True)
    for name in SOURCES:
        path = FOLDER / f"{name}-{version()}.waybill"
        if path.exists() and "--force" not in sys.argv:
            print(f"{path.name} is there")
            continue
        data = waybill.dumps(scope_of(name)["made"], **OPTIONS.get(name, {}))
        assert scope_of(name)["check"](waybill.loads(data)), name
        path.write_bytes(data)
        text = json.dumps(report_of(name, data), indent=1, ensure_ascii=True)
        path.with_suffix(".json").write_text(text + "\n", encoding="ascii")
        print(f"{path.name}: {len(data)} bytes")


if __name__ == "__main__":
    main()
