"""Whatever is sent or received, nothing of it stays behind."""

import gc
import sys
import weakref
from pathlib import Path

import fresh_process
import kinds
import own_memory
import pytest
import waybill
from sources import define

HERE = Path(__file__).parents[1] / "helpers"

PRELUDE = """
import gc, linecache, os, re, sys, types, typing
sys.path.append(sys.argv[1])
import kinds, waybill

def settle():
    # Caches of the standard library hold types for as long as there is room.
    for clean in typing._cleanups: clean()
    sys._clear_type_cache()
    linecache.clearcache()
    re.purge()
    for _ in range(3): gc.collect()

SINGLE = [None, True, False, ..., (), "", b"", 0, 1, object, type, dict, list, tuple]
SINGLE += [int, str, set, types.FunctionType, types.CodeType, waybill, sys, frozenset()]

def count():
    settle()
    # In 3.12 and later singletons are immortal and their counts stand still.
    references = sum(map(sys.getrefcount, SINGLE))
    total = getattr(sys, "gettotalrefcount", int)()
    return len(gc.get_objects()), sys.getallocatedblocks(), references, total

def trackers():
    return [o for o in gc.get_objects() if type(o).__name__ == "Tracker"]

def left_in_trackers():
    waybill.forget_classes()
    settle()
    return [len(d) for t in trackers() for d in (t._ids, t._objects, t._open) if d]
"""

COUNT = (
    PRELUDE
    + """
def grows(work, rounds):
    for _ in range(20): work()
    count()
    before = count()
    for _ in range(rounds): work()
    after = count()
    return [b - a for a, b in zip(before, after)]

def check(name, rounds):
    value, dumps, loads = kinds.make(name)
    data = dumps(value)
    growth = grows(lambda: dumps(value), rounds)
    if max(growth) > rounds // 5: print(name, "dumps", *growth)
    growth = grows(lambda: loads(data), rounds)
    if max(growth) > rounds // 5: print(name, "loads where it is", *growth)
    # From here on classes that are received are new, and code is that of payloads.
    del value
    gc.collect()
    growth = grows(lambda: (loads(data), waybill.forget_classes()), rounds)
    if max(growth) > rounds // 5: print(name, "loads", *growth)
    growth = grows(lambda: loads(data), rounds)
    if max(growth) > rounds // 5: print(name, "loads again", *growth)
    value = loads(data)
    growth = grows(lambda: dumps(value), rounds)
    if max(growth) > rounds // 5: print(name, "dumps of what came", *growth)

for name in sys.argv[3:]:
    check(name, int(sys.argv[2]))
    # Modules that came by value can be imported from then on.
    waybill._modules.by_value._finder.modules.clear()
    sys.modules.pop("module_of_kinds", None)
    if left := left_in_trackers(): print(name, "trackers keep", left)
assert trackers()
"""
)

# So that each process has its share, and none needs long.
GROUPS = [kinds.NAMES[start::6] for start in range(6)]


@pytest.mark.parametrize("group", GROUPS, ids=range(len(GROUPS)))
def test_no_object_block_or_reference_of_any_kind_is_left(group):
    assert fresh_process.run_script(COUNT, HERE, 100, *group) == ""


@pytest.mark.long
@pytest.mark.parametrize("name", kinds.NAMES)
def test_nothing_is_left_of_many_round_trips(name):
    assert fresh_process.run_script(COUNT, HERE, 5_000, name, seconds=900) == ""


MEMORY = (
    own_memory.MEMORY
    + PRELUDE
    + """
import time
name, rounds, seconds = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
value, dumps, loads = kinds.make(name)
data = dumps(value)

def repeat(work, rounds, seconds):
    end = time.monotonic() + seconds
    for done in range(rounds):
        work()
        if time.monotonic() > end: break
    return done

def trip(): loads(dumps(value))
def receive(): loads(data)

work = [trip, receive]
for each in work: repeat(each, rounds // 20, seconds // 10)
value = None
repeat(receive, rounds // 20, seconds // 10)
value = loads(data)
settle()
before = memory()
count = sum(repeat(each, rounds, seconds) for each in work)
value = None
count += repeat(receive, rounds, seconds)
settle()
print(count, memory() - before)
"""
)


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="smaps_rollup")
@pytest.mark.parametrize("name", kinds.NAMES)
def test_memory_stays_flat_over_100_000_round_trips(name):
    output = fresh_process.run_script(MEMORY, HERE, name, 100_000, 60, seconds=900)

    rounds, growth = map(int, output.split())
    assert growth <= 300 + rounds * 4 // 1024, f"grew by {growth} KiB in {rounds}"


RECEIVED = """
import gc, weakref
def held(): return [len(t._ids) + len(t._objects) + len(t._open) for t in trackers]
value = waybill.loads(data)
trackers = [o for o in gc.get_objects() if type(o).__name__ == "Tracker"]
classes = [weakref.ref(value[0]), weakref.ref(type(value[1])), weakref.ref(value[2])]
before = held()
again = waybill.loads(data)
same = [again[0] is value[0], again[2] is value[2], type(again[1]) is type(value[1])]
del value, again
waybill.forget_classes()
gc.collect()
answer = before, same, [c() for c in classes], held()
"""


def test_classes_that_were_received_die_with_their_last_owner():
    sent = define("""
    import enum, typing
    class A:
        def m(self): return __class__
    class B(A): pass
    value = A, B(), typing.TypeVar("T", bound=A)
    """).value

    answer = fresh_process.execute(RECEIVED, waybill.dumps(sent))

    assert answer == ([6], [True, True, True], [None, None, None], [0])


def test_classes_that_were_sent_die_with_their_last_owner():
    source = """
    class A:
        def m(self): return __class__
    """
    sent = define(source).A
    waybill.loads(waybill.dumps([sent, sent()]))
    reference = weakref.ref(sent)

    del sent
    gc.collect()

    assert reference() is None
