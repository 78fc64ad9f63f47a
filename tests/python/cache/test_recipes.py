"""Functions that are made again by a recipe are those that reading them again gives.

Each claim is asked of a payload of which the cache is known to have served. What it
gives is compared with `loads` without caches, and each thing that a recipe looks up or
makes is changed, one at a time.
"""

import gc
import itertools
import sys
import types

import msgpack
import pytest
import waybill
import xxhash
from recipe_checks import (
    PLACES,
    demand_alike,
    demand_served_as_read,
    described,
    function_of,
    hits,
    is_of_a_module,
    served,
    warm,
)
from sources import define, imported
from without_caches import without_caches

pytestmark = pytest.mark.usefixtures("modules")

#: Functions that a recipe makes, whole.
MADE = {
    "bare": "def f(): return module_one, module_two.value",
    "defaults": "def f(a, b=1, c='text', d=None, e=(1, (2.5, b'x')), g=True): return a",
    "a new list as default": "def f(a, b=[1, [2]], c={'k': [3]}, d={}, e=[]): return b",
    "keyword defaults": "def f(*, a=1, b='x'): return a, b",
    "a new keyword default": "def f(*, a=[1], b='x'): return a, b",
    "annotations": "def f(a: int, b: 'text' = 0) -> float: return a",
    "a global number": "LIMIT = 3\ndef f(): return LIMIT",
    "a global list": "LIMITS = [3]\ndef f(): return LIMITS",
    "a global dict": "LIMITS = {'a': 3}\ndef f(): return LIMITS",
    "an imported name": "from module_one import value\nfrom os.path import join\n"
    "def f(): return join, value",
    "a builtin": "size = len\ndef f(): return size",
    "a helper": "def h(x=2): return x\ndef f(): return h()",
    "helpers of helpers": "S = 1\ndef g(a=[]): return S, module_one\n"
    "def h(x): return g\ndef f(y=(1,)): return h(y)",
    "helpers that call each other": "def h(n): return f(n - 1) if n else 0\n"
    "def f(n): return h(n - 1) if n else 1",
    "itself": "def f(n): return f(n - 1) if n else 0",
    "a closure": "def outer(n, m):\n def f(): return n, m\n return f\n"
    "f = outer(5, [6])",
    "a closure of itself": "def outer():\n def f(n): return f(n - 1) if n else 7\n"
    " return f\nf = outer()",
    "an empty cell": "def outer():\n def f(): return n\n return f\n n = 1\n del n\n"
    " return f\ndef outer():\n if 0: n = 1\n def f(): return n\n return f\nf = outer()",
    "a shared cell": "def outer(n):\n def g(): return n\n def f(): return g, n\n"
    " return f\nf = outer([5])",
    "attributes": "def f(): return 1\nf.note = [1]\nf.other = 'x'",
    "names": "def f(): return 1\nf.__name__ = 'n'\nf.__qualname__ = 'q'\n"
    "f.__doc__ = 'd'",
    "a module's name": "def f(): return 1\nf.__module__ = 'elsewhere'",
    "documentation": "def f():\n 'Documented.'\n return 1",
    "a lambda in a default": "def f(key=lambda row: row['x']): return key",
    "nested code": "def f(rows): return sum(r * LIMIT for r in rows)\nLIMIT = 2",
    "a package": "__path__ = []\n__package__ = 'nowhere'\ndef f(): return 1",
    "long text, twice": "TEXT = 'long ' * 30\ndef f(a=TEXT): return TEXT, a",
    "no ASCII": "größe = 'ü'\ndef f(ä=größe): return größe, ä",
    "no ASCII, and half of a pair": "def 名前(値): return 値, '\\udc80'\nf = 名前",
    "a submodule": "def f(): return module_one.inner.thing",
    "an import inside": "def f():\n import json\n return json",
    "a name that is missing": "def f(): return missing, module_one",
    "a lambda": "f = lambda: (module_one, module_one)",
    "a coroutine": "async def f(): return module_two",
    "all kinds of parameters": "def f(x, /, *args, y, **more):\n"
    " return x in (1, 'a', None), f'{y}', b'b', 1.5, -1",
    "all kinds of constants": "def f(x): return 2**80, 1j, ..., x in {1, 2}, x[1:2]",
    "a generator that catches": "def f(x):\n try: module_one.x\n"
    " except ValueError as e: yield e\n finally: del x",
}

#: Those that a recipe does not make: they are read each time.
READ = {
    "a set": "def f(a={1}): return a",
    "a frozenset": "def f(a=frozenset([1])): return a",
    "a bytearray": "def f(a=bytearray(b'x')): return a",
    "a complex number": "def f(a=1j): return a",
    "an ellipsis": "def f(a=...): return a",
    "a range": "def f(a=range(3)): return a",
    "a list that holds itself": "L = []\nL.append(L)\ndef f(): return L",
    "an object": "import decimal\ndef f(a=decimal.Decimal(1)): return a",
    "a name with a dot": "import types\n"
    "def f(a=types.SimpleNamespace.__init__): return a",
    "a dict with numbers": "def f(a={1: 2}): return a",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", MADE)
def test_it_is_the_function_that_reading_gives(name, place):
    demand_served_as_read(waybill.dumps(PLACES[place](function_of(MADE[name]))))


@pytest.mark.parametrize("name", READ)
def test_what_no_recipe_makes_is_read(name):
    demand_alike(waybill.dumps((function_of(READ[name]), 1)))


def mutable_parts(value, found=None):
    """Ids of all functions, cells and containers that can be reached."""
    found = {} if found is None else found
    if id(value) in found:
        return found
    if isinstance(value, types.FunctionType) and is_of_a_module(value):
        return found
    if isinstance(value, types.FunctionType):
        parts = [value.__globals__, value.__defaults__, value.__kwdefaults__]
        parts += [value.__annotations__, value.__dict__, value.__closure__]
    elif isinstance(value, types.CellType):
        parts = [value.cell_contents] if described(value) != "an empty cell" else []
    elif isinstance(value, dict):
        parts = [v for k, v in value.items() if k != "__builtins__"]
    elif isinstance(value, list):
        parts = list(value)
    elif isinstance(value, tuple):
        for part in value:
            mutable_parts(part, found)
        return found
    else:
        return found
    found[id(value)] = value
    for part in parts:
        mutable_parts(part, found)
    return found


@pytest.mark.parametrize("name", MADE)
def test_nothing_that_can_be_changed_is_shared(name):
    payload = waybill.dumps((function_of(MADE[name]), 1))
    warm(payload)

    results = [served(payload) for _ in range(3)]

    assert [count for _, count in results] == [1, 1, 1]
    parts = [set(mutable_parts(value)) for value, _ in results]
    for one, other in itertools.combinations(parts, 2):
        assert not one & other


CHANGES = {
    "an attribute of a module": lambda: setattr(sys.modules["module_one"], "Thing", 7),
    "a module": lambda: replace_module("module_one", Thing=8),
    "a name that is gone": lambda: delattr(sys.modules["module_one"], "Thing"),
    "a module that answers": lambda: answer_for("module_one"),
    "a module of another type": lambda: retype("module_one"),
    "a module that is gone": lambda: sys.modules.pop("module_one"),
}


def replace_module(name, **attributes):
    module = types.ModuleType(name)
    module.__spec__ = sys.modules[name].__spec__
    vars(module).update(attributes)
    sys.modules[name] = module


def answer_for(name):
    module = sys.modules[name]
    del module.Thing
    module.__getattr__ = lambda name: f"answer for {name}"


def retype(name):
    class Lying(types.ModuleType):
        def __getattribute__(self, name):
            if name == "Thing":
                return "lie"
            return super().__getattribute__(name)

    sys.modules[name].__class__ = Lying


def outcome(payload):
    try:
        return described(waybill.loads(payload))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("place", ["alone", "in a task"])
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_looked_up_is_that_of_now(change, place):
    thing = type("Thing", (), {"__module__": "module_one"})
    sys.modules["module_one"].Thing = thing
    source = "from module_one import Thing\ndef f(): return Thing, module_one"
    payload = waybill.dumps(PLACES[place](function_of(source)))
    warm(payload)
    before = outcome(payload)

    CHANGES[change]()

    changed = outcome(payload)
    with without_caches():
        assert changed == outcome(payload)
    assert changed != before


def test_a_name_is_looked_up_in_the_builtins_of_now(monkeypatch):
    payload = waybill.dumps((function_of("size = len\ndef f(): return size"), 1))
    name = waybill.dumps([len])
    warm(payload)
    replaced = types.ModuleType("builtins")
    vars(replaced).update(vars(sys.modules["builtins"]), len="another")
    monkeypatch.setitem(sys.modules, "builtins", replaced)

    assert waybill.loads(payload)[0]() == "another"
    assert waybill.loads(name) == ["another"]


def test_functions_and_classes_that_share_globals_share_them_each_time():
    scope = define("""
        import module_one
        SIZE = 3
        class C:
            def m(self): return module_one, LATE
        LATE = 5
        def f(): return SIZE, C
        def g(): return SIZE
        """)
    for value in [(scope.f, 1), (scope.g, scope.C(), 1), (scope.C(), scope.g)]:
        payload = waybill.dumps(value)
        with without_caches():
            expected = [names_of(part) for part in waybill.loads(payload)]
        warm(payload)

        assert [names_of(part) for part in waybill.loads(payload)] == expected


def names_of(value):
    is_function = isinstance(value, types.FunctionType)
    return list(value.__globals__) if is_function else type(value)


def test_an_instance_among_arguments_is_made_without_its_class_being_read():
    scope = define("""
        class Point:
            def __init__(self, x): self.x = x
            def __hash__(self): raise RuntimeError
            def __eq__(self, other): return self.x == other.x
        def f(p): return p.x
        """)
    payload = waybill.dumps((scope.f, (scope.Point([1]), [scope.Point("y")]), {}))
    warm(payload)

    (function, arguments, _), count = served(payload)

    assert count == 1
    assert function(arguments[0]) == [1]
    assert arguments[1][0].x == "y"
    assert type(arguments[0]) is type(arguments[1][0]) is scope.Point


def test_an_instance_that_holds_itself_is_one():
    scope = define("class Node: pass\ndef f(n): return n")
    node = scope.Node()
    node.me, node.others = node, [node]
    payload = waybill.dumps((scope.f, node))
    warm(payload)

    (_, arrived), count = served(payload)

    assert count == 1
    assert arrived.me is arrived is arrived.others[0]


def test_an_instance_as_a_key_is_asked_for_its_hash():
    scope = define("""
        class Key:
            def __init__(self, name): self.name = name
            def __hash__(self): asked.append(self.name); return 1
            def __eq__(self, other): return self.name == other.name
        asked = []
        """)
    payload = waybill.dumps(
        [{scope.Key("a"): 1}, {scope.Key("b")}, {(scope.Key("c"),)}]
    )
    warm(payload)
    scope.asked.clear()

    waybill.loads(payload)

    assert set(scope.asked) == {"a", "b", "c"}


def test_a_finalizer_sees_no_instance_that_is_given_up():
    scope = define("""
        class Closing:
            def __init__(self): self.name = 'x'
            def __del__(self): closed.append(self.name)
        closed = []
        """)
    scope.Closing.__del__.__globals__["closed"] = scope.closed
    payload = waybill.dumps([scope.Closing(), bytearray(b"x"), 2**70])
    scope.closed.clear()
    arrived = [waybill.loads(payload) for _ in range(6)]

    assert scope.closed == []
    assert [value[0].name for value in arrived] == ["x"] * 6


@pytest.mark.parametrize("value", ["C(1)", "[C(1), [D(2)]]", "C", "E.A", "[E, 'more']"])
def test_classes_without_code_are_served(value):
    scope = define("""
        import enum
        class C: x = 1
        class D(C): sizes = [1, 2]
        class E(enum.Enum): A = 1
        def made(cls, y):
            made = cls()
            made.y = y
            return made
        """)
    names = {"C": scope.C, "D": scope.D, "E": scope.E}
    if "(" in value:
        names = {
            name: lambda y, cls=cls: scope.made(cls, y) for name, cls in names.items()
        }

    demand_served_as_read(waybill.dumps(eval(value, names)))


def test_classes_without_code_that_alternate_are_all_served():
    source = "import enum\nclass C: x = {0}\nclass E(enum.Enum): A = {0}"
    scopes = [define(source.format(number)) for number in range(3)]
    payloads = [waybill.dumps(scope.E.A) for scope in scopes]
    payloads += [waybill.dumps([scope.C]) for scope in scopes]
    for _ in range(4):
        for payload in payloads:
            waybill.loads(payload)

    assert [served(payload)[1] for payload in payloads] == [1] * 6


def test_an_abstract_class_has_no_instances():
    scope = define("""
        import abc
        class Shape(abc.ABC):
            def __init__(self): self.x = 1
        """)
    payload = waybill.dumps([scope.Shape()])
    warm(payload)
    scope.Shape.__abstractmethods__ = frozenset(["area"])

    with pytest.raises(TypeError, match="abstract"):
        waybill.loads(payload)


def test_caches_that_are_cleared_or_off_serve_nothing():
    payload = waybill.dumps((function_of(MADE["a helper"]), 1))
    warm(payload)
    assert served(payload)[1] == 1

    waybill.clear_caches()
    assert served(payload)[1] == 0
    warm(payload)
    with without_caches():
        assert served(payload)[1] == 0


def test_a_recipe_keeps_no_module_and_no_result():
    with imported("held_module", value=1) as module:
        function = function_of("import held_module\ndef f(a=[]): return held_module")
        payload = waybill.dumps((function, 1))
        del function
        gc.collect()
        before = sys.getrefcount(module)
        warm(payload)
        gc.collect()

        assert sys.getrefcount(module) == before


def altered(payload):
    """The payload with each byte of its references and its payload section changed, to
    each value that starts something else, and with a digest that fits."""
    unpacker = msgpack.Unpacker(strict_map_key=False)
    unpacker.feed(payload)
    unpacker.read_array_header()
    ends = []
    for _ in range(7):
        unpacker.skip()
        ends.append(unpacker.tell())
    values = [*range(0, 256, 5), *range(0x80, 0x84), *range(0x90, 0x98), 0xC0, 0xD4]
    for place in range(ends[2], ends[5]):
        for byte in values:
            body = payload[:place] + bytes([byte]) + payload[place + 1 : ends[6]]
            yield body + b"\xc4\x08" + xxhash.xxh3_64_digest(body) + b"\xc0"


@pytest.mark.parametrize(
    "value",
    [
        "(f, (1, ['a', {'k': (2,)}]), {'x': 1.5})",
        "[1, f, f, [2, {f: 3}]]",
        "(g, [shared, shared], shared)",
        "(f, C(1), [C('a'), C([2])])",
        "[C(1), g, {'c': C}]",
        "(k, (1, [C('a')]), {})",
        "D(C(1), [k, 2])",
        "(k, 1j, C('a'), [C])",
        # What a call makes comes behind containers that are passed over at once.
        "(h, [[{'k': [n, 70 * 'a', shared]} for n in (1, 2)], day, shared], day)",
        "(f, ([[shared, {'k': {1, 64 * 'a'}}], shared], day), {'x': [[shared]]})",
        "(C('a'), [{'k': C([3, shared])}, [C(64 * 'b'), [C]]], day, [C, day], shared)",
    ],
)
def test_what_is_altered_is_refused_or_read_as_without_caches(value):
    scope = define("""
        import datetime, module_one
        class C:
            def __init__(self, x): self.x = x
        def h(a=(1, 2)): return a
        def f(a, b=1): return h(), a
        def g(): return module_one
        class D:
            def __init__(self, x, y): self.x, self.y, self.z = x, y, C(3)
        def k(a): return D(a, C)
        shared, day = [1], datetime.date(2026, 1, 1)
        """)
    payload = waybill.dumps(eval(value, vars(scope)))
    warm(payload)
    before = hits()
    spoiled = list(altered(payload))

    found = [outcome(each) for each in spoiled]

    assert hits() > before
    with without_caches():
        expected = [outcome(each) for each in spoiled]
    different = [
        (each, one, other)
        for each, one, other in zip(spoiled, found, expected, strict=True)
        if one != other
    ]
    assert not different[:1]
