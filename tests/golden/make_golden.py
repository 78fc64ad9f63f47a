"""Makes the golden payloads of the Python that runs this.

    python tests/golden/make_golden.py [--force]

writes v1/<name>-<version>.waybill and, beside each, what inspect() says of it. Files
that are there stay as they are: format version 1 must read them for ever. --force
replaces them, which is for the time before the first release only.
"""

import json
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
OPTIONS = {"compressed": {"compress": ("zstd", 19)}}


def scope_of(name):
    """The globals of a golden source, whose functions no import finds."""
    scope = {"__name__": "golden"}
    scope["make"] = lambda: scope_of(name)
    exec(compile(SOURCES[name], f"golden_{name}.py", "exec"), scope)
    return scope


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
        text = json.dumps(waybill.inspect(data), indent=1, ensure_ascii=True)
        path.with_suffix(".json").write_text(text + "\n", encoding="ascii")
        print(f"{path.name}: {len(data)} bytes")


if __name__ == "__main__":
    main()
