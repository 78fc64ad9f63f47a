"""After fork, and in the processes of multiprocessing, all works as in any process."""

import multiprocessing
import os
import subprocess
import sys

import fresh_process
import pytest
import waybill
from slow_objects import SLOW

FORK = (
    """
import gc, os, sys, threading, time, traceback, warnings, waybill
warnings.simplefilter("ignore", DeprecationWarning)  # Of fork, with threads (3.12).
sys.setswitchinterval(1e-5)

class Own:
    count = 0
    def __init__(self, x): self.x = x
    def get(self): return self.x, json_of

def json_of(): return os.path

"""
    + SLOW
    + """
def make(n):
    def step(by=[1]): return n, os.path, step, Own
    return step

HOME, used = os.getpid(), []
THINGS = [[Own([1]), Own([2])], Own, make(3), {"a": [1, (2.5, "x")]}, lambda: Own]
PAYLOADS = [waybill.dumps(thing) for thing in THINGS]
SLOW = waybill.dumps([Slow(), Own([Slow()]), make(Slow())])
# Classes that this process does not have: each is built by whoever loads it first.
FOREIGN = [
    waybill.dumps(
        type(f"Foreign{n}", (), {
            "__module__": "elsewhere", "n": n, "get": lambda self: self.n
        })
    )
    for n in range(40)
]

def use():
    # A child that has loaded a class has the methods that came, and sends these.
    if os.getpid() == HOME or not used:
        assert [waybill.dumps(thing) for thing in THINGS] == PAYLOADS
    used.append(1)
    for payload in PAYLOADS: waybill.loads(payload)
    assert waybill.loads(PAYLOADS[1]) is Own
    number, function = waybill.loads(PAYLOADS[0])[1].get()
    # In a child, methods are those that came: it is no home of the class.
    assert number == [2] and (function is json_of) == (os.getpid() == HOME)
    assert waybill.loads(PAYLOADS[2])()[3] is Own

def in_child(work):
    child = os.fork()
    if child == 0:
        try: work()
        except BaseException:
            traceback.print_exc()
            os._exit(3)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, status
"""
)

FORK_AMONG_THREADS = """
stop, errors = threading.Event(), []
def work():
    try:
        while not stop.is_set():
            use()
            waybill.loads(SLOW)
            for payload in FOREIGN: waybill.loads(payload)
    except BaseException as error: errors.append(repr(error))

def child():
    use()
    waybill.loads(SLOW)
    for number, payload in enumerate(FOREIGN):
        found = waybill.loads(payload)
        assert found().get() == number and waybill.loads(payload) is found
    assert gc.isenabled()
    waybill.fingerprint(THINGS), waybill.imports(THINGS), waybill.inspect(SLOW)

threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
for thread in threads: thread.start()
for _ in range(40): in_child(child)
stop.set()
for thread in threads: thread.join()
answer = errors
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_child_that_was_forked_among_busy_threads_sends_and_loads():
    assert fresh_process.execute(FORK + FORK_AMONG_THREADS) == []


FORK_INSIDE = """
class Forks:
    # In the midst of a dumps: the child goes on with it, and so does the parent.
    def __reduce__(self):
        children.append(os.fork())
        return int, ()
children, results = [], []
reader, writer = os.pipe()
data = waybill.dumps([THINGS, Forks(), make(1)])
if children[-1] == 0:
    use()
    os.write(writer, data)
    os._exit(0)
os.waitpid(children[-1], 0)
use()
answer = os.read(reader, 100_000) == data
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork_inside_of_a_reducer_gives_both_the_same_payload():
    assert fresh_process.execute(FORK + FORK_INSIDE)


CONTEXTS = """
import multiprocessing, sys, waybill
from waybill_worker_module import answer_to

def main():
    class Own:
        def __init__(self, x): self.x = x
    function = lambda x: (Own(x).x, sys.maxsize)
    context = multiprocessing.get_context(sys.argv[1])
    waybill.loads(waybill.dumps(function))
    with context.Pool(2) as pool:
        answers = pool.map(answer_to, [waybill.dumps((function, n)) for n in range(50)])
        classes = pool.map(answer_to, [waybill.dumps((lambda x: Own, 0))] * 4)
    assert [waybill.loads(a) for a in answers] == [(n, sys.maxsize) for n in range(50)]
    # What comes home is the class that left.
    assert [waybill.loads(a) for a in classes] == [Own] * 4
    print("fine")

if __name__ == "__main__":
    main()
"""

WORKER = """
import waybill
def answer_to(data):
    function, argument = waybill.loads(data)
    return waybill.dumps(function(argument))
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_of_multiprocessing_send_and_load(tmp_path, method):
    (tmp_path / "waybill_worker_module.py").write_text(WORKER, encoding="utf-8")
    (tmp_path / "main.py").write_text(CONTEXTS, encoding="utf-8")
    folder = os.path.dirname(os.path.dirname(waybill.__file__))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), folder])}

    # Processes that are spawned need a program that is a file.
    done = subprocess.run(
        [sys.executable, tmp_path / "main.py", method],
        env=env,
        capture_output=True,
        text=True,
        timeout=fresh_process.SECONDS,
    )

    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr
