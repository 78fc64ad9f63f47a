"""Sending and loading while the interpreter ends: no crash and no hang.

What is asked for that late may fail, since modules are being taken apart; then it is a
Python error, and the process ends as it would have ended.
"""

import sys

import fresh_process
import pytest
from slow_objects import SLOW

USE = """
import atexit, os, sys, threading, time, weakref, waybill

class Own:
    def __init__(self, x): self.x = x
    def get(self): return self.x, os.path

def make(n):
    def step(): return n, os.path, step
    return step

THINGS = [Own([1]), Own, make(3), {"a": [1, (2.5, "x")]}, lambda: Own]
PAYLOADS = [waybill.dumps(thing) for thing in THINGS]

def use(dumps=waybill.dumps, loads=waybill.loads):
    for thing, payload in zip(THINGS, PAYLOADS):
        loads(dumps(thing))
        loads(payload)

def use_or_fail(use=use, say=os.write):
    # Not even `Exception` has to be there any more.
    try: use()
    except: say(2, b"failed;")
    say(1, b"called;")
"""


def run(script, count=1):
    output = fresh_process.run_script(USE + script, flags=("-I",), seconds=60)
    assert output.count("called;") >= count
    return output


def test_handlers_at_exit_send_and_load():
    run("""
@atexit.register
def at_exit():
    use()
    os.write(1, b"called;")
""")


def test_first_use_may_be_at_exit():
    output = fresh_process.run_script(
        "import atexit\n@atexit.register\ndef at_exit():\n    import waybill\n"
        "    assert waybill.loads(waybill.dumps(lambda: 5))() == 5\n"
        "    print('called')",
        flags=("-I",),
    )

    assert output == "called\n"


DELETED = {
    "global": "last = Late()",
    "global in a cycle": "last = Late()\nlast.me = last, use, use_or_fail",
    "in sys": "sys.last_of_all = Late()",
    "in builtins": "import builtins\nbuiltins.last_of_all = Late()",
    "in a module of its own": (
        "import types\nsys.modules['its_own'] = m = types.ModuleType('its_own')\n"
        "m.late = Late()\ndel m"
    ),
    "in a module of waybill": (
        "import waybill._classes.making\nwaybill._classes.late = Late()\n"
        "waybill._core.late = Late()"
    ),
    "attribute of a class": "class Holder: late = Late()",
    "default of a function that was sent": (
        "def holder(late=Late()): pass\nwaybill.fingerprint(make)\nTHINGS.append(make)"
    ),
    "thread local": "local = threading.local()\nlocal.late = Late()",
    "class that was received": (
        "late = Late()\nkept = waybill.loads(PAYLOADS[1])\nkept.late = late\ndel late"
    ),
}


@pytest.mark.parametrize("name", DELETED)
def test_finalizers_may_send_and_load_while_modules_go(name):
    run(
        "class Late:\n    def __del__(self, call=use_or_fail): call()\n" + DELETED[name]
    )


def test_callbacks_of_weak_references_may_send_and_load_late():
    run("""
class Referent: pass
referent = Referent()
referent.cycle = referent
sys.kept = weakref.ref(referent, lambda reference, call=use_or_fail: call())
holder = weakref.finalize(Own(1), use_or_fail)
""")


DAEMONS = (
    SLOW
    + """
sys.setswitchinterval(1e-5)
THINGS.append([Slow(), Own([Slow()])])
PAYLOADS.append(waybill.dumps(THINGS[-1]))
def work():
    while True: use()
for _ in range(4): threading.Thread(target=work, daemon=True).start()
time.sleep(float(sys.argv[1]))
os.write(1, b"called;")
"""
)


@pytest.mark.parametrize("wait", [0.0, 0.01, 0.05, 0.1, 0.15, 0.2])
def test_daemon_threads_that_send_and_load_at_exit_are_no_crash(wait):
    fresh_process.run_script(USE + DAEMONS, wait, flags=("-I",), seconds=60)


def test_threads_that_are_joined_at_exit_finish_their_work():
    run(
        """
def work():
    for _ in range(200): use()
    os.write(1, b"called;")
for _ in range(4): threading.Thread(target=work).start()
""",
        count=4,
    )


def test_thread_ends_while_an_object_of_its_own_is_sent():
    run("""
class Ends:
    def __reduce__(self): raise SystemExit
def work():
    try: waybill.dumps([Own(1), Ends()])
    finally: os.write(1, b"called;")
thread = threading.Thread(target=work)
thread.start()
thread.join()
use()
""")


@pytest.mark.skipif(sys.platform == "win32", reason="no signals of that kind")
def test_interpreter_that_exits_inside_of_a_reducer_ends_with_that_status():
    import subprocess

    script = (
        USE
        + "class Ends:\n    def __reduce__(self): sys.exit(7)\n"
        + "waybill.dumps([Own(1), make(Ends()), Ends()])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", script], timeout=60)

    assert done.returncode == 7
