"""What waybill.pickled keeps where it arrives: one object for each content."""

import os
import pickle
import threading

import fresh_process
import pytest
import subinterpreters
import waybill
from sources import define
from waybill import _pickled


def made(scale):
    """A function that nobody can import."""
    return lambda x: x * scale


scaled = made(3)


def test_those_used_last_are_kept(monkeypatch):
    monkeypatch.setattr(_pickled, "MAX_SHARED", 2)
    shared = _pickled.SharedObjects()
    payloads = [waybill.dumps([n]) for n in range(3)]
    first = shared.load(payloads[0])
    second = shared.load(payloads[1])
    assert shared.load(payloads[0]) is first

    shared.load(payloads[2])

    assert shared.load(payloads[0]) is first
    assert shared.load(payloads[1]) is not second


def test_what_a_payload_says_of_a_class_counts_though_its_object_is_kept():
    source = """
    class Conf: lr = 1
    def get(): return Conf.lr
    """
    scope = define(source)
    payloads = [pickle.dumps(waybill.pickled(scope.get))]
    scope.Conf.lr = 2
    payloads.append(pickle.dumps(waybill.pickled(scope.get)))
    program = """
import pickle
loaded = [pickle.loads(payload) for payload in waybill.loads(data)]
answer = []
for payload in waybill.loads(data) * 2 + waybill.loads(data)[:1]:
    function = pickle.loads(payload)
    answer.append((function in loaded, function()))
"""

    answer = fresh_process.execute(program, waybill.dumps(payloads))

    assert answer == [(True, 1), (True, 2), (True, 1), (True, 2), (True, 1)]


def test_no_more_bytes_are_kept_than_allowed(monkeypatch):
    monkeypatch.setattr(_pickled, "MAX_SHARED_BYTES", 1000)
    shared = _pickled.SharedObjects()
    large = waybill.dumps(["x" * 2000])

    assert shared.load(large) is not shared.load(large)


def test_what_is_dropped_may_load_something(monkeypatch):
    monkeypatch.setattr(_pickled, "MAX_SHARED", 1)
    shared, found = _pickled.SharedObjects(), []

    class Loading:
        def __init__(self, payload):
            self.payload = payload

        def __del__(self):
            found.append(shared.load(self.payload))

    # What its destructor uses is what is here, and not a copy.
    monkeypatch.setattr(_pickled, "loads", {b"1": Loading(b"2"), b"2": "it"}.pop)

    def load_both():
        shared.load(b"1")
        shared.load(b"2")

    thread = threading.Thread(target=load_both, daemon=True)
    thread.start()
    thread.join(60)

    assert found == ["it"]


def test_threads_that_load_at_once_get_the_same_object(monkeypatch):
    shared = _pickled.SharedObjects()
    payload, at_once, found = waybill.dumps([scaled]), threading.Barrier(8), []

    def loads(data):
        at_once.wait(60)
        return waybill.loads(data)

    monkeypatch.setattr(_pickled, "loads", loads)
    threads = [
        threading.Thread(target=lambda: found.append(shared.load(payload)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 8
    assert len({id(one) for one in found}) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forks_while_a_thread_holds_the_lock_can_load():
    code = """
import os, pickle, signal, waybill
from waybill import _pickled
stream = pickle.dumps(waybill.pickled(lambda: 1))
with _pickled._shared._lock:
    child = os.fork()
    if not child:
        signal.alarm(20)
        os._exit(pickle.loads(stream)())
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert fresh_process.run_script(code) == "1\n"


RESTRICT = "import waybill; waybill.restrict(policy=waybill.security.INSTALLED_CODE)"


@pytest.mark.parametrize(
    "restrict",
    [
        RESTRICT,
        "for name in list(sys.modules):\n"
        "    if name.startswith('waybill'): del sys.modules[name]\n" + RESTRICT,
        f"run({RESTRICT!r})",
    ],
    ids=["here", "by another copy of the module", "in another interpreter"],
)
def test_what_was_let_in_before_is_asked_about_again_on_new_terms(restrict):
    answer = subinterpreters.run(f"""
import sys, waybill
from waybill._pickled import load_shared
payload = waybill.dumps(lambda: 1)
load_shared(payload)
{restrict}
try: load_shared(payload)
except Exception as error: print(error)
else: print("was let in")
""")

    assert "code by value" in answer
