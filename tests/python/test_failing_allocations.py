"""Whichever allocation fails, the answer is a MemoryError and no crash.

test_leaks.py also lets all allocations fail from one on. Not here: CPython's own
interpreter then runs in circles, unwinding blocks for which it needs a number.
"""

import os
import sys
from pathlib import Path

import fresh_process
import kinds
import pytest

pytest.importorskip("_testcapi")
pytestmark = [
    pytest.mark.skipif(
        sys.version_info >= (3, 12),
        reason="CPython itself crashes when an allocation fails while a class is made",
    ),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
]

# Each kind in a child: what crashes there is named here.
SCRIPT = """
import collections, gc, os, signal, sys, _testcapi
sys.path.append(sys.argv[1])
import kinds, waybill

def outcomes_of(name, work):
    outcomes, quiet = {}, 0
    work()
    for number in range(100_000):
        value, error = None, ""
        _testcapi.set_nomemory(number, number + 1)
        try:
            try: value = work()
            finally: _testcapi.remove_mem_hooks()
        except MemoryError:
            quiet = 0
        except BaseException as caught:
            quiet = 0
            # Which is how CPython says that there is no memory for a lock.
            if str(caught) == "can't allocate lock": continue
            # And what its raise statement may say, which makes tracebacks.
            if "exception" in name and "without exception set" in str(caught): continue
            outcomes.setdefault(type(caught).__name__, (number, str(caught)))
        else:
            quiet += 1
        if quiet > 30: break
    work()
    return outcomes

def check(name):
    value, dumps, loads = kinds.make(name)
    data = dumps(value)
    works = {"dumps": lambda: dumps(value), "loads": lambda: loads(data)}
    for action, work in works.items():
        if outcomes := outcomes_of(name, work): print(name, action, outcomes)
    # From here on classes that are received are new.
    value = None
    gc.collect()
    if outcomes := outcomes_of(name, works["loads"]): print(name, "anew", outcomes)

for name in sys.argv[2:]:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            check(name)
            sys.stdout.flush()
            os._exit(0)
        except BaseException as error:
            print(name, "ends with", repr(error), flush=True)
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status: print(name, "ends with status", status)
"""


@pytest.mark.parametrize("start", range(4))
def test_failing_allocation_is_a_memory_error(start):
    group = kinds.NAMES[start::4]

    assert fresh_process.run_script(SCRIPT, Path(__file__).parent, *group) == ""
