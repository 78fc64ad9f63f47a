"""A signal, a fork or another thread in the middle of a merge leaves no class between
two states. `faults.md` and `class_state.md` promise it."""

import itertools
import os
import signal
import sys
import threading

import fresh_process
import pytest
import waybill
from waybill._state import baselines, merge

SOURCE = """
__name__ = "script"
import enum
class K:
    v = w = 0
    table = {"a": 0}
    gone = 1
    def m(self): return 0
class L: v = 0
class E(enum.Enum): A = 1
first = waybill.dumps((K, L, E))
K.v = K.w = L.v = 1
K.table["a"] = K.table["b"] = 1
K.m = lambda self: 1
K.new = 1
del K.gone
second = waybill.dumps((K, L, E))
answer = first, second
"""
FIRST = (0, 0, {"a": 0}, False, True, 0, 0)
SECOND = (1, 1, {"a": 1, "b": 1}, True, False, 1, 1)
RECEIVE = """
sent, first, second = waybill.loads(data)
def read(cls): return cls.v, cls.w, dict(cls.table), hasattr(cls, "new")
answer = [read(waybill.loads(sent))]
answer += [read(waybill.loads(payload)[0]) for payload in (first, second)]
"""
STATE_FOLDER = os.path.dirname(merge.__file__)


@pytest.fixture
def payloads():
    first, second = fresh_process.execute(SOURCE)
    waybill.loads(first, reset_classes=True)
    return first, second


def state_of(value):
    kind, other, _ = value
    return (
        *(kind.v, kind.w, dict(kind.table), hasattr(kind, "new")),
        *(hasattr(kind, "gone"), kind().m(), other.v),
    )


def load_interrupted(payload, number):
    """Loads a payload, with a KeyboardInterrupt at a line of the merge, as a signal's
    handler raises it. Whether the merge has as many lines."""
    lines = itertools.count()

    def trace(frame, event, argument):
        # At the end of a `with` block a trace can raise where no signal can.
        is_locking = frame.f_code.co_name in ("call_locked", "_derive")
        if is_locking or not frame.f_code.co_filename.startswith(STATE_FOLDER):
            return None
        if event == "line" and next(lines) == number:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        waybill.loads(payload)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_interrupt_at_any_line_leaves_one_of_the_two_states(payloads):
    first, second = payloads
    value = waybill.loads(first)
    for number in itertools.count():
        waybill.loads(first, reset_classes=True)
        waybill.loads(first)
        is_interrupted = load_interrupted(second, number)

        assert state_of(value) in (FIRST, SECOND), number
        for payload, state in ((first, FIRST), (second, SECOND), (first, FIRST)):
            assert state_of(waybill.loads(payload)) == state, number
        if not is_interrupted:
            break
    assert number > 100


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_child_that_is_forked_while_a_thread_merges_has_one_of_the_two_states(
    payloads, monkeypatch
):
    first, second = payloads
    value = waybill.loads(first)
    is_merging, goes_on, is_forked = (threading.Event() for _ in range(3))
    record = merge.record_baseline

    def record_slowly(*given):
        is_merging.set()
        goes_on.wait(0.5)
        return record(*given)

    def load():
        waybill.loads(second)
        # A thread that ends during the fork may hold a lock of the address sanitizer's
        # allocator, which the child would wait for.
        is_forked.wait(30)

    monkeypatch.setattr(merge, "record_baseline", record_slowly)
    thread = threading.Thread(target=load)
    thread.start()
    assert is_merging.wait(10)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        monkeypatch.undo()
        states = None
        try:
            states = [state_of(value)]
            states += [state_of(waybill.loads(first)) for _ in range(2)]
        finally:
            os._exit(0 if states in ([FIRST] * 3, [SECOND, FIRST, FIRST]) else 1)
    goes_on.set()
    is_forked.set()
    thread.join()

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert state_of(value) == SECOND


def test_class_that_is_sent_on_while_a_thread_merges_is_in_one_state(
    payloads, monkeypatch
):
    first, second = payloads
    kind = waybill.loads(first)[0]
    class_parts, later = baselines.class_parts, [second]

    def parts_and_a_merge(cls):
        parts = class_parts(cls)
        if later:
            waybill.loads(later.pop())
        return parts

    monkeypatch.setattr(baselines, "class_parts", parts_and_a_merge)
    waybill._core.clear_caches()
    sent = waybill.dumps(kind)

    assert not later
    states = fresh_process.execute(RECEIVE, waybill.dumps([sent, first, second]))
    assert states == [SECOND[:4], FIRST[:4], SECOND[:4]]


ABSTRACT = """
__name__ = "script"
import abc
class A(abc.ABC):
    v = 0
    @abc.abstractmethod
    def f(self): ...
answer = [waybill.dumps(A)]
A.v = 1
answer.append(waybill.dumps(A))
"""


def test_abstract_class_is_merged_while_another_thread_adds_attributes():
    first, second = fresh_process.execute(ABSTRACT)
    cls = waybill.loads(first)
    added = itertools.count()

    class Attribute:
        """Adds an attribute when `abc` looks at it, as another thread might."""

        @property
        def __isabstractmethod__(self):
            number = next(added)
            if number < 3:
                setattr(cls, f"added{number}", 0)
            return False

    cls.attribute = Attribute()
    waybill.loads(second)

    assert cls.v == 1
    assert cls.__abstractmethods__ == {"f"}
    assert next(added) > 3


GUARDED = """
__name__ = "script"
import builtins, enum
builtins.owned = []
class Box:
    def __init__(self): self.x = 0
    def __getstate__(self):
        from waybill._state import baselines
        owned.append(baselines.TABLE.lock._is_owned())
        return dict(self.__dict__)
box = Box()
class K: held = box
class E(enum.Enum): A = 1
E.A.held = box
answer = [waybill.dumps((K, E))]
box.x = 1
answer.append(waybill.dumps((K, E)))
"""
LOAD_GUARDED = """
import builtins
builtins.owned = []
first, second = waybill.loads(data)
K, E = waybill.loads(first)
waybill.loads(second)
values = [K.held.x, E.A.held.x]
waybill.forget_classes()
for payload in (first, second): waybill.loads(payload)
answer = values, len(owned) > 0, any(owned)
"""


def test_code_of_the_program_does_not_run_under_the_lock_of_the_merge():
    """A thread may wait for it that holds a lock which the code takes."""
    data = waybill.dumps(fresh_process.execute(GUARDED))

    values, has_run, was_locked = fresh_process.execute(LOAD_GUARDED, data)

    assert values == [1, 1]
    assert has_run and not was_locked
