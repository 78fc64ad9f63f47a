"""Equal objects give equal bytes, in any process and at any time."""

import functools
import json
import marshal
import os
import sys
import textwrap

import fresh_process
import pytest
import waybill
from sources import define

# A program that leaves objects of many kinds in `things`.
THINGS = '''
import collections, dataclasses, datetime, decimal, enum, functools, json, re, xml.dom

def make(n, lock=None):
    count = n
    def step(by=1, *, also={"a", "b", "c", ("d", 1), frozenset("xyz")}):
        nonlocal count
        count += by
        return [x for x in also if x in {"p", "q", "r"}], json, xml.dom.Node, make
    def read(): return count
    return step, read

class Base:
    """text"""
    kinds = {"u", "v", "w"}
    def __init__(self, x): self.x = x
    def get(self): return self.x
    @property
    def twice(self): return self.x * 2

class Derived(Base):
    __slots__ = ("s",)
    def get(self): return super().get() + 1

def annotated(a: int, b: "str" = "x") -> dict:
    try:
        match a:
            case {"k": [first, *rest]}: return first
    except (ValueError, TypeError):
        return {"s": 1}
    async def inner(): return a
    return inner

shared = [1, {"x"}]
things = {
    "values": [None, 1.5, 2**80, "t", b"b", {"k", "l", "m", 1, 2.5, ("t",), None}],
    "mixed set": {frozenset({1, "a"}), frozenset({2, "b"}), (1, "z"), "z", b"y", 7},
    "function": annotated,
    "functions": make(3),
    "lambda": lambda x: {x, "a", "b"} & {"c", "d", "e"},
    "set of functions": {make(1)[0], make(2)[1], annotated, len, make},
    "frozenset of functions": frozenset([lambda: 1, lambda: 2, lambda x: 3]),
    "shared": [shared, shared, {"again": shared}],
    "class": Derived,
    "instance": Base([1, {"a", "b"}]),
    "partial": functools.partial(annotated, 1, b={"f", "g", "h"}),
    "standard": [datetime.date(2024, 1, 1), decimal.Decimal("1.5"), re.compile("a")],
    "containers": collections.OrderedDict(a=collections.deque({"z"})),
}
'''
SHOW = """
for name, thing in things.items():
    print(name, waybill.dumps(thing).hex(), waybill.fingerprint(thing), sep="|")
"""


def program(before=""):
    return f"import sys, waybill\n{THINGS}\n{before}\n{SHOW}"


def shown(before="", flags=(), **environment):
    output = fresh_process.run_script(
        program(before), env={**os.environ, **environment}, flags=flags
    )
    return dict(line.split("|", 1) for line in output.splitlines())


@pytest.fixture(scope="module")
def expected():
    return shown(PYTHONHASHSEED="0")


@pytest.mark.parametrize("seed", ["1", "2", "12345", "random"])
def test_bytes_do_not_depend_on_the_hash_seed(expected, seed):
    assert shown(PYTHONHASHSEED=seed) == expected


WARM = """
step, read = make(1)
for _ in range(10_000):
    step(); read(); annotated(1); Base(1).get(); Base(2).twice
    things["lambda"]("x")
"""
SPY = "def spy(*a): return spy\n"

#: What has run before in the process.
BEFORE = {
    "what is imported": "import asyncio, http.client, unittest.mock, email.message",
    "the garbage collector": "import gc; gc.disable()",
    "warming": WARM,
    "earlier dumps": "for thing in things.values(): waybill.dumps(thing)",
    "tracing": f"{SPY}sys.settrace(spy)\n{WARM}",
    "profiling": f"{SPY}sys.setprofile(spy)\n{WARM}",
    # Not by vars(), which gives some objects a dict that they had not.
    "reference counts": """
import gc
held, todo = [], list(things.values())
for _ in range(4):
    todo = [part for thing in todo for part in gc.get_referents(thing)]
    held += todo
""",
}
if sys.version_info >= (3, 12):
    BEFORE["monitoring"] = f"""
monitoring, events = sys.monitoring, sys.monitoring.events
monitoring.use_tool_id(3, "test")
for event in (events.LINE, events.CALL, events.PY_START, events.INSTRUCTION):
    monitoring.register_callback(3, event, lambda *a: None)
monitoring.set_events(3, events.LINE | events.CALL | events.PY_START
                      | events.INSTRUCTION)
{WARM}"""


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_bytes_do_not_depend_on(expected, before):
    assert shown(before, PYTHONHASHSEED="3") == expected


# Optimised code has no assert statements; there are none in THINGS.
def test_bytes_do_not_depend_on_the_way_python_is_run(expected):
    assert shown(flags=["-X", "importtime"], PYTHONHASHSEED="3") == expected


KINDS = """
values functions function lambda shared class instance partial standard containers
mixed_set set_of_functions frozenset_of_functions
""".split()


@pytest.mark.parametrize("name", KINDS)
def test_round_trip_gives_the_same_bytes(name):
    scope = {"__name__": "nowhere"}
    exec(compile(THINGS, "things.py", "exec"), scope)
    data = waybill.dumps(scope["things"][name.replace("_", " ")])

    assert waybill.dumps(waybill.loads(data)) == data


@pytest.mark.parametrize("name", KINDS)
def test_round_trip_in_a_fresh_process_gives_the_same_bytes(name):
    scope = {"__name__": "nowhere"}
    exec(compile(THINGS, "things.py", "exec"), scope)
    data = waybill.dumps(scope["things"][name.replace("_", " ")])

    assert fresh_process.load(data, "waybill.dumps(value)") == data


def test_looking_at_a_partial_does_not_change_its_bytes():
    partial = functools.partial(print, 1)
    unseen = waybill.dumps(partial)

    assert partial.__dict__ == {}

    assert waybill.dumps(partial) == unseen


@pytest.mark.parametrize(
    "make",
    [
        lambda: "".join(["some ", "text"]),
        lambda: bytes([1, 2, 3]),
        lambda: float("1.5"),
        lambda: 2 ** len("a" * 90),
    ],
    ids=["text", "bytes", "float", "int"],
)
def test_equal_objects_that_are_one_or_two_give_the_same_bytes(make):
    one, two = make(), make()
    assert one is not two

    assert waybill.dumps([one, one]) == waybill.dumps([one, two])


def test_equal_frozensets_give_the_same_bytes():
    one, two = frozenset(["a", "b", 8]), frozenset([8, "b", "a"])

    assert waybill.dumps(one) == waybill.dumps(two)


def test_function_compiled_twice_gives_the_same_bytes():
    source = "def f(a, b={1, 2}):\n    return [a for _ in ('x', 'y')], 'name', 12345678"
    codes = [compile(source, "file.py", "exec") for _ in range(2)]
    scopes = [{"__name__": "nowhere"} for _ in codes]
    for code, scope in zip(codes, scopes):
        exec(code, scope)

    assert len({waybill.dumps(scope["f"]) for scope in scopes}) == 1


def test_set_order_of_insertion_does_not_matter():
    forward, backward = set(), set()
    items = [*range(0, 2000, 8), *"abcdef", (1, 2), frozenset("q")]
    for item in items:
        forward.add(item)
    for item in reversed(items):
        backward.add(item)

    assert waybill.dumps(forward) == waybill.dumps(backward)


SUBCLASSES_OF_SETS = """
import hashlib, sys, waybill
class S(set): pass
class F(frozenset): __slots__ = ("x",)
class InOrder(set):
    def __iter__(self): return iter(self.items)
    def __init__(self, items): super().__init__(items); self.items = list(items)
letters = S("abcdefgh"), F(["p", ("q", 1), frozenset("rst"), len, sys])
letters[0].more = S("xyz")
print([hashlib.md5(waybill.dumps(v)).hexdigest() for v in [letters, InOrder("zyx")]])
print(list(waybill.loads(waybill.dumps(InOrder("zyx")))))
"""


def shown_under_any_seed(script):
    shown = {
        fresh_process.run_script(script, env={**os.environ, "PYTHONHASHSEED": seed})
        for seed in ("0", "1", "2", "77")
    }
    assert len(shown) == 1
    return shown.pop()


def test_subclasses_of_sets_give_equal_bytes_under_any_seed():
    shown = shown_under_any_seed(SUBCLASSES_OF_SETS)

    assert shown.splitlines()[1] == "['z', 'y', 'x']"


# ---- Fingerprints


def fingerprint(source, file="file.py", name="nowhere", **given):
    scope = {"__name__": name, **given}
    exec(compile(source, file, "exec"), scope)
    return waybill.fingerprint(scope["f"])


BODY = "def f(a, b=1):\n    def g():\n        return a\n    return g"


@pytest.mark.parametrize(
    ("other", "file"),
    [
        (BODY, "/elsewhere/b.py"),
        ("\n\n\n# comment\n" + BODY, "file.py"),
        (BODY.replace("):\n", "):\n\n  # why\n\n"), "file.py"),
    ],
    ids=["the file name", "the first line", "lines inside"],
)
def test_fingerprint_does_not_depend_on(other, file):
    assert fingerprint(other, file) == fingerprint(BODY)


def test_fingerprint_does_not_depend_on_where_imports_stand():
    source = "{}def f(): return json.dumps"

    assert fingerprint(source.format(""), json=json) == fingerprint(
        source.format("\n\n"), "other.py", json=json
    )


def test_bytes_do_depend_on_the_file_name():
    one, two = {"__name__": "n"}, {"__name__": "n"}
    exec(compile(BODY, "a.py", "exec"), one)
    exec(compile(BODY, "b.py", "exec"), two)

    assert waybill.dumps(one["f"]) != waybill.dumps(two["f"])


@pytest.mark.parametrize(
    "other",
    [
        BODY.replace("return a", "return b"),
        BODY.replace("b=1", "b=2"),
        BODY.replace("b=1", "b=True"),
        BODY.replace("b=1", "b=1.0"),
        BODY.replace("b=1", "*, b=1"),
        BODY.replace("b=1", "c=1"),
        BODY.replace("b=1", "b: int = 1"),
        BODY.replace("def g", "async def g"),
        BODY.replace("(a, b", "(a, /, b"),
        BODY + "\nf.x = 1",
        BODY + "\nf.__doc__ = 'text'",
        BODY + "\nf.__name__ = 'h'",
        BODY + "\nf.__qualname__ = 'h.f'",
        BODY + "\nf.__module__ = 'h'",
    ],
)
def test_fingerprint_differs_for_other_functions(other):
    assert fingerprint(BODY) != fingerprint(other)


@pytest.mark.parametrize("value", [2, True, 1.0, "1", None, [1], (1,), {1}, marshal])
@pytest.mark.parametrize("first", [1, json])
def test_fingerprint_differs_for_other_globals(first, value):
    source = "def f(): return x.dumps"

    assert fingerprint(source, x=first) != fingerprint(source, x=value)


def test_fingerprint_differs_for_another_module_name_of_the_globals():
    assert fingerprint(BODY, name="one") != fingerprint(BODY, name="two")


def test_fingerprint_differs_by_identity_inside():
    one, two = [], []

    assert waybill.fingerprint([one, one]) != waybill.fingerprint([one, two])


def test_fingerprint_has_32_hexadecimal_digits():
    text = waybill.fingerprint([1])

    assert len(text) == 32
    assert set(text) <= set("0123456789abcdef")


def test_fingerprint_of_what_cannot_travel_names_the_path():
    with pytest.raises(waybill.EncodeError) as caught:
        waybill.fingerprint([(i for i in ())])

    assert caught.value.path.startswith("obj[0]")


def test_fingerprint_survives_a_round_trip():
    function = define(BODY).f

    arrived = waybill.loads(waybill.dumps(function))

    assert waybill.fingerprint(arrived) == waybill.fingerprint(function)


SETS_OF_OBJECTS = """
import decimal, enum, pathlib, uuid, waybill
values = [
    {pathlib.PurePosixPath(name) for name in "abcdefgh"},
    {decimal.Decimal(n) for n in range(9)},
    set(uuid.SafeUUID),
    {(kind, name) for kind in (int, str, bytes) for name in "xyz"},
    frozenset((pathlib.PurePosixPath(name), 1) for name in "pqrst"),
    {frozenset(map(pathlib.PurePosixPath, name)) for name in ("ad", "bc", "ef")},
]
print([waybill.fingerprint(value) for value in values])
"""


def test_sets_of_objects_that_tell_themselves_apart_give_equal_bytes_under_any_seed():
    shown_under_any_seed(SETS_OF_OBJECTS)


# ---- What is kept in caches or put there on the way leaves no trace

KINDS = {
    "cached function": """
        @functools.lru_cache(maxsize=5)
        def value(x): return x
        value.more = 1
        """,
    "generic class": """
        class value(typing.Generic[T]):
            x = 1
            def m(self) -> T: pass
        """,
    "class derived from a generic one": """
        class Box(typing.Generic[T]): pass
        class value(Box[int]):
            __slots__ = ("s",)
            x = 1
        """,
    "protocol": """
        @typing.runtime_checkable
        class value(typing.Protocol[T]):
            y: int
            x = 1
            def m(self) -> T: pass
        """,
    "protocol without annotations and what follows it": """
        class P(typing.Protocol):
            x = 1
            def m(self): pass
        class Q(P, typing.Protocol): z = 1
        class value(P): y = 1
        """,
    "generic named tuple": """
        class value(typing.NamedTuple, typing.Generic[T]):
            a: T
            b: int = 3
        """,
    "generic typed dict": """
        class value(typing.TypedDict, typing.Generic[T]):
            items: list[T]
        """,
    "property of a subclass": """
        class P(property): pass
        value = P(lambda self: 1, doc="text"), P(lambda self: 1), P()
        """,
    "module that no import finds": """
        value = types.ModuleType("made_by_hand", "its doc")
        exec("count = 0\\ndef add():\\n global count\\n count += 1", vars(value))
        """,
    "flag": """
        class value(enum.Flag): R = 1; W = 2
        """,
}


@pytest.mark.parametrize("name", KINDS)
def test_kind_has_the_same_bytes_after_a_round_trip_in_a_fresh_process(name):
    source = "import enum, functools, types, typing\nT = typing.TypeVar('T')\n"
    sent = waybill.dumps(define(source + textwrap.dedent(KINDS[name])).value)

    assert fresh_process.load(sent, "waybill.dumps(value)") == sent


def test_calling_a_function_with_a_flag_does_not_change_its_fingerprint():
    made = define("""
    import enum
    class Right(enum.Flag): R = 1; W = 2
    def f(right): return right & ~Right.W
    """)
    before = waybill.fingerprint(made.f)

    assert made.f(made.Right.R) is made.Right.R

    assert waybill.fingerprint(made.f) == before
