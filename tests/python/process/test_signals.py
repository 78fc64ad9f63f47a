"""Signal handlers may send, load and raise while something is sent or loaded."""

import signal

import fresh_process
import pytest

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="no timers here"
)

USE = """
import gc, os, signal, sys, waybill

class Own:
    # Reducers in Python, since handlers run between instructions of Python.
    def __init__(self, x): self.x = x
    def __reduce__(self):
        return rebuild, (self.x,)

def rebuild(x):
    return Own(x)

class Plain:
    def __setstate__(self, state): vars(self).update(state)

def make(n):
    plain = Plain()
    plain.n = [n]
    return [Own([n, plain]), lambda: (n, os.path, plain), {n: (str(n),)}]

def content(thing):
    return [(o.x[0], o.x[1].n, f()[0], d) for o, f, d in thing]

THING = [make(n) for n in range(300)]
WANTED = content(THING)
DATA = waybill.dumps(THING)
assert content(waybill.loads(DATA)) == WANTED

def every(seconds, handler):
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)

def stop():
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
"""

REENTRANT = """
calls, busy, wrong = [], [], []
def handler(*_):
    if busy: return
    busy.append(1)
    try:
        small = waybill.dumps(THING[:3])
        if small != SMALL: wrong.append("bytes")
        if content(waybill.loads(SMALL)) != WANTED[:3]: wrong.append("content")
        calls.append(1)
    finally: busy.clear()

SMALL = waybill.dumps(THING[:3])
every(0.0005, handler)
for _ in range(60):
    if waybill.dumps(THING) != DATA: wrong.append("outer bytes")
    if content(waybill.loads(DATA)) != WANTED: wrong.append("outer content")
stop()
answer = len(calls) > 10, wrong
"""


def test_handler_may_send_and_load_what_is_being_sent_and_loaded():
    assert fresh_process.execute(USE + REENTRANT) == (True, [])


RAISING = """
class Alarm(Exception): pass
outcomes = {"raised": 0, "done": 0}
def handler(*_): raise Alarm

def count():
    for _ in range(3): gc.collect()
    return len(gc.get_objects()), sys.getallocatedblocks()

def attempt(work, delay):
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Alarm: outcomes["raised"] += 1
    # As with any error of a reducer's.
    except waybill.EncodeError as error:
        if not isinstance(error.__cause__, Alarm): raise
        outcomes["raised"] += 1
    else: outcomes["done"] += 1

signal.signal(signal.SIGALRM, handler)
works = [lambda: waybill.dumps(THING), lambda: waybill.loads(DATA),
         lambda: waybill.fingerprint(THING), lambda: waybill.imports(THING)]
def rounds(count):
    for number in range(count):
        attempt(works[number % 4], 0.0002 + (number % 37) * 0.0002)
rounds(400)
before = count()
rounds(1200)
after = count()
answer = (
    outcomes, after[0] - before[0], after[1] - before[1],
    waybill.dumps(THING) == DATA, content(waybill.loads(DATA)) == WANTED,
    gc.isenabled(),
)
"""


def test_handler_that_raises_leaves_nothing_behind():
    outcomes, objects, blocks, dumps, loads, collects = fresh_process.execute(
        USE + RAISING
    )

    assert outcomes["raised"] > 100
    assert (dumps, loads, collects) == (True, True, True)
    assert objects <= 100
    assert blocks <= 1000


INTERRUPTED = """
class Interrupts:
    def __init__(self, left): self.left = left
    def __reduce__(self):
        signal.raise_signal(signal.SIGINT)
        return int, ()
def interrupts(): signal.raise_signal(signal.SIGINT)
class InterruptsAtLoad:
    def __reduce__(self): return interrupts, ()

signal.signal(signal.SIGINT, signal.default_int_handler)
answer = []
data = waybill.dumps([THING, InterruptsAtLoad()])
def send(): waybill.dumps([THING, Interrupts(1)])
def load(): waybill.loads(data)
for work in send, load:
    try: work()
    except KeyboardInterrupt: answer.append("interrupted")
    except BaseException as error: answer.append(repr(error))
answer.append(waybill.dumps(THING) == DATA)
"""


def test_interrupt_from_the_keyboard_is_itself_and_no_error_of_waybill():
    answer = fresh_process.execute(USE + INTERRUPTED)

    assert answer == ["interrupted", "interrupted", True]
