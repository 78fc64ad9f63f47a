"""Threads may send and load at once, even while others change what is sent."""

import sys

import fresh_process
import pytest
import repeats
import waybill
from sources import define
from threads import run_in_threads

THREADS = 8


@pytest.fixture(autouse=True)
def many_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_threads_that_send_one_function_give_the_same_bytes():
    function = define("""
    import json
    def f(a, b={"x", "y"}):
        def g(): return a, json.dumps
        return g
    """).f
    results = []

    errors = run_in_threads(
        lambda _: results.extend(waybill.dumps(function) for _ in range(300)), THREADS
    )

    assert errors == []
    assert len(set(results)) == 1
    assert len(results) == 300 * THREADS


def test_threads_that_meet_new_code_at_once_give_the_same_bytes():
    for number in range(100):
        function = define(f"def f(x): return [lambda: x + {number}, 'name']").f
        results = []

        errors = run_in_threads(
            lambda _: results.append(waybill.dumps(function)), THREADS
        )

        assert errors == []
        assert len(set(results)) == 1


def test_threads_send_and_load_different_things():
    sent = define("""
    class A:
        def __init__(self, x): self.x = x
    def make(n):
        def f(): return n
        return f
    """)

    def work(number):
        for turn in range(200):
            value = [number, turn, {"a": (number,)}, sent.A(turn), sent.make(number)]
            arrived = waybill.loads(waybill.dumps(value))
            assert arrived[:3] == value[:3]
            assert arrived[3].x == turn
            assert arrived[4]() == number

    assert run_in_threads(work, THREADS) == []


def test_threads_load_one_payload():
    data = waybill.dumps(define("def f(x): return [x] * 3").f)

    def work(number):
        for _ in range(300):
            assert waybill.loads(data)(number) == [number] * 3

    assert run_in_threads(work, THREADS) == []


def test_threads_import_a_module_once(tmp_path):
    (tmp_path / "slow_module_of_waybill.py").write_text(
        "import sys, time\n"
        "sys.count_of_imports = getattr(sys, 'count_of_imports', 0) + 1\n"
        "time.sleep(0.05)\nx = 5\n",
        encoding="utf-8",
    )
    from sources import imported

    with imported("slow_module_of_waybill") as module:
        data = waybill.dumps(define("def f(): return m.x", m=module).f)

    answer = fresh_process.execute(
        """
import threading
answers = []
def work(): answers.append(waybill.loads(data)())
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
answer = answers, sys.count_of_imports
""",
        data,
        path=[tmp_path],
    )

    assert answer == ([5] * 8, 1)


# What changes during dumps is sent in one of its states, or a named error says so.
# In processes of their own: a crash is a failure.

MUTATION = """
import sys, threading, waybill
sys.setswitchinterval(1e-6)
stop = threading.Event()

class Slow:
    # Gives other threads a chance in the midst of a dumps.
    def __reduce__(self):
        import time
        time.sleep(0)
        return int, ()

{setup}

def disturb():
    number = 0
    while not stop.is_set():
        number += 1
        {disturb}

threads = [threading.Thread(target=disturb, daemon=True) for _ in range(3)]
for thread in threads: thread.start()
outcomes = set()
for _ in range({rounds}):
    try:
        waybill.loads(waybill.dumps({thing}))
        outcomes.add("fine")
    except (waybill.EncodeError, RuntimeError) as error:
        outcomes.add(type(error).__name__)
stop.set()
for thread in threads: thread.join()
print(sorted(outcomes))
"""
CASES = {
    "dict": (
        "thing = {i: [Slow] for i in range(50)}",
        "thing[number % 100] = [number]; thing.pop((number * 7) % 100, None)",
        "thing",
    ),
    "dict with slow values": (
        "thing = {}",
        "thing[number % 50] = Slow(); thing.pop((number * 7) % 50, None)",
        "thing",
    ),
    "list": (
        "thing = [1]",
        "thing.append([Slow()]); number % 50 or thing.clear()",
        "thing",
    ),
    "set": (
        "thing = set()",
        "thing.add((number % 50, 'a')); thing.discard(((number * 7) % 50, 'a'))",
        "thing",
    ),
    "set of functions": (
        "thing = set()",
        "thing.add(lambda: number); len(thing) > 20 and thing.clear()",
        "thing",
    ),
    "globals": (
        "def thing(): return a, b, c\na = b = c = [1]",
        "globals()['abc'[number % 3]] = [number]; globals().pop('b', None)",
        "thing",
    ),
    "cells": (
        "def make():\n    x = [1]\n    def thing(): return x\n    def put(v):\n"
        "        nonlocal x\n        x = v\n    def clear():\n        nonlocal x\n"
        "        x = 0\n        del x\n    return thing, put, clear\n"
        "thing, put, clear = make()",
        "put([Slow(), number]); clear() if number % 9 == 0 else None; put(1)",
        "thing",
    ),
    "function": (
        "def thing(a=1, *, b=2): return a",
        "thing.__defaults__ = ([number, Slow()],); thing.x = number\n"
        "        thing.__kwdefaults__ = {'b': [number]}; thing.__dict__.clear()",
        "thing",
    ),
    "instance": (
        "import types\nthing = types.SimpleNamespace()",
        "setattr(thing, f'a{number % 50}', [Slow()]); thing.__dict__.clear() "
        "if number % 70 == 0 else None",
        "thing",
    ),
    "dict while it grows and shrinks": (
        "thing = {i: (i, [i]) for i in range(300)}",
        "thing.clear() if number % 7 == 0 else thing.update({number % 999: []})",
        "[thing, thing]",
    ),
    "nested lists": (
        "thing = [[j] for j in range(100)]",
        "thing[number % len(thing)].append(thing[(number * 7) % len(thing)][:2]); "
        "thing[number % len(thing)][1:] = []",
        "thing",
    ),
    "subclasses of containers": (
        "class L(list): pass\nclass D(dict): pass\nclass S(set): pass\n"
        "thing = L([1]), D(a=1), S([1])",
        "thing[0].append([1]); thing[1][number % 50] = [number]; "
        "thing[2].add(number % 50); len(thing[0]) > 30 and [x.clear() for x in thing]",
        "thing",
    ),
    "deque": (
        "import collections\nthing = collections.deque([1], 50)",
        "thing.append([number]); number % 90 or thing.clear()",
        "[thing, thing]",
    ),
    "instances with slots": (
        "class C: __slots__ = ('a', 'b')\nthing = [C() for _ in range(20)]",
        "c = thing[number % 20]; c.a = [number, c]; c.b = number; del c.b",
        "thing",
    ),
    "class": (
        "class thing: pass",
        "setattr(thing, f'a{number % 20}', [number]); "
        "delattr(thing, f'a{number % 20}')",
        "[thing, thing()]",
    ),
    "bytearray": (
        "thing = bytearray(10)",
        "thing.extend(b'abc' * 100); thing.clear()",
        "[thing, Slow(), thing]",
    ),
    "function that becomes another": (
        "def one(): return [1]\ndef two(a=2): return {a}, json\ndef thing(): return 0",
        "thing.__code__ = (one, two)[number % 2].__code__; "
        "thing.__defaults__ = (None, ([number],))[number % 2]",
        "[thing, thing]",
    ),
    "code that is sent again and again": (
        "import json\ndef thing(): return json.dumps, CONST\nCONST = 1",
        "globals().update(CONST=number, json=(sys, threading)[number % 2])",
        "thing",
    ),
    "methods of a class that is sent and received": (
        "class thing:\n    def m(self): return 1\n    def n(self): return 2",
        "thing.m = (lambda self: [number]); thing.n = thing.m; thing.x = number",
        "[thing(), thing]",
    ),
    "bases of a class": (
        "class A: pass\nclass B: pass\nclass thing(A): pass\nitem = thing()",
        "thing.__bases__ = ((A,), (B,), (A, B))[number % 3]",
        "[item, thing, A, B]",
    ),
    "class of an instance": (
        "class A:\n    x = 1\nclass B:\n    y = [2]\nthing = [A() for _ in range(20)]",
        "thing[number % 20].__class__ = (A, B)[number % 2]",
        "thing",
    ),
    "dispatch table": (
        "import copyreg\nclass A: pass\nthing = [A() for _ in range(20)]",
        "copyreg.dispatch_table.pop(A, None) if number % 2 else "
        "copyreg.pickle(A, lambda a: (int, ()))",
        "thing",
    ),
    "module by value": (
        "import types\nmodule = types.ModuleType('made_here')\n"
        "exec('def f(): return a, b\\na = b = [1]', vars(module))\nthing = module.f",
        "setattr(module, 'ab'[number % 2], [number]); "
        "setattr(module, f'x{number % 30}', 1); "
        "vars(module).pop(f'x{number % 7}', None)",
        "[thing, module]",
    ),
    "sys.modules": (
        "import types, json\ndef thing(): return json.decoder.JSONDecoder",
        "sys.modules[f'made_up_{number % 50}'] = types.ModuleType('x'); "
        "sys.modules.pop(f'made_up_{(number * 7) % 50}', None)",
        "thing",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_change_by_another_thread_is_no_crash(name):
    setup, disturb, thing = CASES[name]
    # Each slow value gives the other thread a turn, so a round does more there.
    rounds = repeats.times(300 if "slow" in name else 1500)
    script = MUTATION.format(setup=setup, disturb=disturb, thing=thing, rounds=rounds)

    outcomes = fresh_process.run_script(script)

    assert set(eval(outcomes)) <= {"fine", "EncodeError", "RuntimeError"}


REENTRANT = """
import waybill
outcomes = []
class Changes:
    def __init__(self, owner, act): self.owner, self.act = owner, act
    def __reduce__(self):
        self.act(self.owner)
        return int, ()
def clear(x): x.clear()
def grow(x):
    if isinstance(x, list): x.extend(range(5))
    elif isinstance(x, dict): x.update({f"k{len(x)}": 1})
    else: x.add(len(x))
def replace(x):
    if isinstance(x, list): x[:] = ["new"] * len(x)
    elif isinstance(x, dict): x.pop("first", None); x[f"k{len(x)}"] = 5
    else: x.discard("x"); x.add(("new", len(x)))
def move(x):
    if isinstance(x, dict): x["first"] = x.pop("first", 0)
for act in (clear, grow, replace, move):
    for owner in ([], {}, set()):
        items = [Changes(owner, act), (1,), Changes(owner, act), "last"]
        if isinstance(owner, list): owner.extend(items)
        elif isinstance(owner, dict): owner.update(first=1, **dict(zip("abcd", items)))
        else: owner.update([items[0], items[2], "x", (1, items[0])])
        for thing in (owner, [owner], {"a": owner}, (owner, owner)):
            try: data = waybill.dumps(thing)
            except (waybill.EncodeError, RuntimeError): continue
            try: waybill.loads(data)
            except Exception as error:
                outcomes.append((act.__name__, type(owner).__name__, str(error)))
print(outcomes)
"""


def test_change_by_a_reducer_never_gives_a_payload_that_cannot_be_read():
    assert fresh_process.run_script(REENTRANT).strip() == "[]"


# What has arrived may be changed while more of it arrives.

RECEIVED = """
import sys, threading, waybill
sys.setswitchinterval(1e-6)
class Own:
    __module__ = "elsewhere"
    kind = "own"
    def __init__(self, x): self.x = x
    def get(self): return self.x
def make(n):
    def step(): return n, sys.maxsize, Own
    return step
payloads = [waybill.dumps([Own(n), make(n), {"n": n}]) for n in range(20)]
payloads += [waybill.dumps(make(n)) for n in range(3)] + [waybill.dumps(Own)]
source = bytearray(payloads[0])
kept, stop, wrong = Own, threading.Event(), []
del Own

def disturb():
    number = 0
    while not stop.is_set():
        number += 1
        kept.kind = [number]
        setattr(kept, f"a{number % 9}", number)
        if number % 5 == 0: kept.get = lambda self: self.x
        if number % 7 == 0: delattr(kept, f"a{number % 9}")
        source[number % len(source)] ^= 1
        source[number % len(source)] ^= 1
        if number % 90 == 0: sys.modules.pop("synthesized", None)
        else: sys.modules["synthesized"] = sys

def work():
    for turn in range(400):
        number = turn % 20
        try:
            own, step, rest = waybill.loads(payloads[number])
            if not (type(own) is kept and own.get() == own.x == number): wrong.append(1)
            if not (step()[:1] == (number,) and rest == {"n": number}): wrong.append(2)
            for payload in payloads[20:]: waybill.loads(payload)
            try: waybill.loads(source)
            except waybill.DecodeError: pass
        except Exception as error: wrong.append(repr(error))

disturbing = threading.Thread(target=disturb)
working = [threading.Thread(target=work) for _ in range(4)]
for thread in [disturbing, *working]: thread.start()
for thread in working: thread.join()
stop.set()
disturbing.join()
print(wrong[:5])
"""


def test_change_of_what_has_arrived_while_more_arrives_is_no_crash():
    assert fresh_process.run_script(RECEIVED).strip() == "[]"
