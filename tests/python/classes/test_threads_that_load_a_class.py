"""Threads that load one class at once share it, and each gets all of it."""

import fresh_process
import pytest
import waybill
from sources import define

ONE_CLASS = """
import sys, threading
sys.setswitchinterval(1e-6)
count, wrong = 8, []
for turn in range(40):
    found, barrier = [], threading.Barrier(count)
    def work():
        barrier.wait()
        cls, made = waybill.loads(payloads[turn])
        # All of it is there when loads returns, whoever built it.
        try:
            found.append(cls)
            assert type(made) is cls and cls().last() == (199, cls), "other class"
            assert [getattr(cls, f"m{n}")(made) for n in range(200)] == [*range(200)]
            assert cls.me is cls and made.x == [turn]
        except Exception as error:
            wrong.append(f"{turn}: {type(error).__name__}: {error}")
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    if len(found) != count or len(set(found)) != 1: wrong.append(f"{turn}: {found}")
answer = wrong
"""


def test_threads_that_load_a_class_at_once_get_one_that_is_complete():
    payloads = []
    for turn in range(40):
        methods = "".join(f"    def m{n}(self): return {n}\n" for n in range(200))
        sent = define(
            f"class C{turn}:\n{methods}"
            "    def last(self): return self.m199(), __class__\n"
            f"C{turn}.me = C{turn}\nvalue = C{turn}, C{turn}()\n"
            f"value[1].x = [{turn}]\n"
        ).value
        payloads.append(waybill.dumps(sent))

    answer = fresh_process.execute(
        "payloads = waybill.loads(data)" + ONE_CLASS, waybill.dumps(payloads)
    )

    assert answer == []


# One thread stops at a line of `Tracker.claim`. Another loads the same class meanwhile
# and stops at a line too, or in the midst of the attributes. The first goes on, and a
# third one comes: what these load must be complete.
BETWEEN_TWO_LINES = """
import itertools, threading
from waybill._classes.identity import TRACKER

claim = TRACKER.claim.__func__.__code__
lines = {line for _, _, line in claim.co_lines() if line} - {claim.co_firstlineno}
stopped, may_go_on = threading.Event(), threading.Event()

def stop():
    stopped.set()
    may_go_on.wait(60)

def pause():
    if threading.current_thread() is second: stop()
sys.modules["gates"] = gates = type(sys)("gates")
gates.pause, gates.last = pause, lambda: "last"

def load(payload, line=None, action=None):
    left = [line]
    def trace(frame, event, _):
        if frame.f_code is not claim: return None
        if event == "line" and frame.f_lineno in left:
            left.clear()
            action()
        return trace
    sys.settrace(trace)
    cls = waybill.loads(payload)
    answers.append((cls, getattr(cls, "last", None)))
    sys.settrace(None)
    if threading.current_thread() is second: stopped.set()

def start_second():
    second.start()
    assert stopped.wait(60)

def run(*given):
    thread = threading.Thread(target=load, args=given)
    thread.start()
    thread.join()

answer, meetings = [], 0
pairs = itertools.product(sorted(lines), [*sorted(lines), None])
for (line, other), payload in zip(pairs, waybill.loads(data)):
    stopped.clear(), may_go_on.clear()
    answers = []
    second = threading.Thread(target=load, args=(payload, other, stop))
    run(payload, line, start_second)
    run(payload)
    may_go_on.set()
    if second.ident is not None:
        meetings += 1
        second.join()
    is_one = len({cls for cls, _ in answers}) == 1
    if not is_one or {last for _, last in answers} != {"last"}:
        answer.append((line, other, str(answers)))
answer = meetings > 20, answer
"""


def test_a_class_is_complete_wherever_threads_that_claim_it_meet(tmp_path):
    (tmp_path / "gates.py").write_text("def pause(): ...\ndef last(): ...\n")
    program = """
    import gates
    class Gate:
        def __reduce__(self): return gates.pause, ()
    class Last:
        def __reduce__(self): return gates.last, ()
    def made(number):
        return type(f"C{number}", (), {"gate": Gate(), "last": Last()})
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        made = define(program).made
        payloads = [waybill.dumps(made(number)) for number in range(400)]

    answer = fresh_process.execute(BETWEEN_TWO_LINES, waybill.dumps(payloads))

    assert answer == (True, [])
