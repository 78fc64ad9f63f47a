"""Neither success nor failure leaves anything behind."""

import os
import sys

import fresh_process
import own_memory
import pytest
import waybill

ROUNDS = 20_000
LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux") or bool(os.environ.get("WAYBILL_SANITIZED")),
    reason="reads /proc/self/smaps_rollup; sanitizers keep what is freed",
)

PRELUDE = """
import collections, datetime, functools, gc, json, sys, threading, waybill, xml.dom

LOCK = threading.Lock()

def make(n):
    def step(by=[1], *, also={"a", "b"}) -> int:
        nonlocal n
        n += len(by)
        return n, json, xml.dom, step
    step.attribute = {"x": (1, 2)}
    return step

class Thing:
    kinds = ["a"]
    def __init__(self, x): self.x = x
    def get(self): return self.x

def helper(x=(1, "a")): return x, json

def plain(rows, *, by=[1], also={"k": [2]}): return helper(rows), by, also

class Failing:
    def __reduce__(self): raise ValueError("mine")

class FailsAtLoad:
    def __reduce__(self): return int, ("no number",)

def cycle():
    pair = ([], {})
    pair[0].append(pair)
    pair[1]["f"] = make(pair)
    return pair

def lock_in_globals(): return LOCK

class Kept(Thing):
    items, table = [1, (2,)], {"a": [3]}
    double = property(lambda self: 2 * self.x)
    made = classmethod(lambda cls: cls(1))

GOOD = {
    "values": [None, 1.5, 2**80, "\\udc80", b"b", 1j, ..., slice(1, [2]), range(3)],
    "containers": {"a": [1, (2, {3})], frozenset("x"): bytearray(b"y")},
    "function": make(1),
    "functions": [make(1), make(2)],
    "task": (plain, ([1], {"a": (2, "x")}), {"by": [Thing("y")]}),
    "cycle": cycle(),
    "class": Thing,
    "instance": [Thing(1), Thing([2])],
    "instance of a class that is kept": Kept(1),
    "function that names such a class": lambda: Kept,
    "reduced": [datetime.date(2024, 1, 1), collections.OrderedDict(a=1),
                functools.partial(make, 1), Thing(1).get],
    "by reference": [json.dumps, json, xml.dom.Node, len],
}
BAD = {
    "lock": [1, make(1), [LOCK]],
    "lock in globals": lock_in_globals,
    "failing reducer": [Thing(1), Failing()],
    "generator": {"a": (i for i in ())},
    "in a set": {make(1), LOCK},
    "fails at load": [make(1), FailsAtLoad()],
}

def spoiled(data):
    for size in (0, 5, len(data) // 2, len(data) - 1):
        yield data[:size]
    yield data + b"x"
    yield data[:-4] + b"zzzz"

def prepare(thing):
    # Arguments share nothing with the function, share it, and bring what is new.
    prepared = waybill.prepare(lambda: thing)
    prepared.dumps([1], x="a")
    prepared.dumps(thing, make(2), collections.Counter())
    prepared.refresh()
    prepared.digest

def explain(thing):
    told = waybill.explain(thing)
    str(told), told.to_json(), told._repr_html_(), told.changes(told)
    try: waybill.dumps(thing)
    except waybill.EncodeError as error: error.explain().blockers

RENAMES = waybill.environment.Renames({"json:dumps": "json:loads", "xml.*": "xml.*"})
NOWHERE = {"json:dumps": "json:gone", "datetime": "gone", "json": "json.gone"}

def once(thing):
    explain(thing)
    try:
        prepare(thing)
        data = waybill.dumps(thing)
        waybill.fingerprint(thing)
        waybill.imports(thing)
        waybill.inspect(data)
        for bad in spoiled(data):
            try: waybill.loads(bad)
            except waybill.Error: pass
        waybill.loads(data)
        telling = waybill.dumps(thing, environment=True)
        waybill.loads(telling, renames=RENAMES)
        try: waybill.loads(telling, renames=NOWHERE)
        except (waybill.Error, AttributeError): pass
    except (waybill.Error, ValueError):
        pass
"""

MEMORY = (
    own_memory.MEMORY
    + PRELUDE
    + """
thing, rounds = {**GOOD, **BAD}[sys.argv[1]], int(sys.argv[2])
for _ in range(max(1000, rounds // 10)): once(thing)
gc.collect()
before = memory()
for _ in range(rounds): once(thing)
gc.collect()
print(memory() - before)
"""
)

BLOCKS = (
    PRELUDE
    + """
def count():
    for _ in range(3): gc.collect()
    return len(gc.get_objects()), sys.getallocatedblocks()

thing, rounds = {**GOOD, **BAD}[sys.argv[1]], int(sys.argv[2])
for _ in range(500): once(thing)  # Free lists fill up.
before = count()
for _ in range(rounds): once(thing)
after = count()
print(after[0] - before[0], after[1] - before[1])
"""
)
NAMES = (
    """
values,containers,function,functions,cycle,class,instance,reduced,by reference,lock
lock in globals,failing reducer,generator,in a set,fails at load
""".strip()
    .replace("\n", ",")
    .split(",")
)


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize("name", NAMES[::3])
def test_memory_stays_flat(name):
    # `once` calls loads seven times, so this is 20 000 of them.
    growth = int(fresh_process.run_script(MEMORY, name, ROUNDS // 7))

    # A leak of 32 bytes for each would be 625 KiB.
    assert growth <= 400, f"grew by {growth} KiB"


@pytest.mark.parametrize("name", NAMES)
def test_no_object_and_no_block_is_left(name):
    output = fresh_process.run_script(BLOCKS, name, 1000)

    objects, blocks = map(int, output.split())
    assert objects <= 100
    assert blocks <= 500


@LINUX
@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_memory_stays_flat_for_long(name):
    growth = int(fresh_process.run_script(MEMORY, name, ROUNDS, seconds=900))

    assert growth <= 500, f"grew by {growth} KiB"


@pytest.mark.slow
@LINUX
def test_memory_stays_flat_over_200_000_dumps_and_loads_of_a_function():
    program = MEMORY.replace(": once(thing)", ": waybill.loads(waybill.dumps(thing))")

    growth = int(fresh_process.run_script(program, "function", 200_000))

    # A leak of 8 bytes for each would be 1 500 KiB.
    assert growth <= 500, f"grew by {growth} KiB"


@pytest.mark.parametrize(
    "value", [None, "text", 1 << 90, [1], {"a": 1}, (1, [2]), len, waybill, Exception]
)
def test_reference_count_of_what_is_sent_does_not_change(value):
    waybill.dumps([value])
    before = sys.getrefcount(value)

    for _ in range(1000):
        waybill.dumps([value])
        waybill.fingerprint([value])

    assert abs(sys.getrefcount(value) - before) < 10


def test_what_is_loaded_has_one_owner():
    value = waybill.loads(waybill.dumps([[1], {"a": 2}, (3, [])]))

    assert sys.getrefcount(value) <= 2
    assert [sys.getrefcount(value[number]) <= 2 for number in range(3)] == [True] * 3


# ---- Failing allocations

NO_MEMORY = (
    own_memory.MEMORY
    + PRELUDE
    + """
import os, _testcapi
kind, name, until = sys.argv[1:]
thing = GOOD[name]
data = waybill.dumps(thing)
waybill.loads(data)
if kind == "dumps": work = lambda: waybill.dumps(thing)
else: work = lambda: waybill.loads(data)
work()
outcomes = collections.Counter()
quiet = 0
for number in range(1, 100_000):
    gc.collect()
    _testcapi.set_nomemory(number, number + 1 if until == "one" else 0)
    try:
        try:
            value = work()
        finally:
            _testcapi.remove_mem_hooks()
    except MemoryError:
        outcomes["MemoryError"] += 1
        quiet = 0
    except BaseException as error:
        outcomes[f"{type(error).__name__} at {number}: {error}"] += 1
        quiet = 0
    else:
        outcomes["success"] += 1
        quiet += 1
    value = None
    if quiet > 30: break
work()
print(dict(outcomes))
"""
)


# From 3.12 on CPython itself crashes when every allocation fails, or when one does
# while a class is made: types.new_class() is enough for that.
SOUND = sys.version_info < (3, 12)
UNTIL = ["one", "all"] if SOUND else ["one"]
WITHOUT_PYTHON = [n for n in NAMES[:9] if SOUND or n not in "class instance reduced"]


@pytest.mark.parametrize("until", UNTIL)
@pytest.mark.parametrize("name", WITHOUT_PYTHON)
@pytest.mark.parametrize("kind", ["dumps", "loads"])
def test_failing_allocation_is_a_memory_error(kind, name, until):
    pytest.importorskip("_testcapi")

    output = fresh_process.run_script(NO_MEMORY, kind, name, until)

    outcomes = eval(output.splitlines()[-1])
    assert outcomes.keys() <= {"MemoryError", "success"}
    assert outcomes["success"] > 30


@LINUX
def test_limited_address_space_is_a_memory_error():
    script = """
import resource, waybill
value = [b"x" * 50_000_000] * 1 + [bytes(50_000_000)]
data = waybill.dumps(value)
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + 20_000_000,) * 2)
for work in (lambda: waybill.dumps(value), lambda: waybill.loads(data)):
    try: work()
    except MemoryError: print("MemoryError")
"""

    output = fresh_process.run_script(script)

    assert output.split() == ["MemoryError"] * 2
