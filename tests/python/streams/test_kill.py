"""save() that is killed or interrupted leaves the old file or the new one."""

import os

import fresh_process
import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")

# A process that ends, or raises, at the n-th event of save(): before and after each
# call of a function, in Python and in C, so between any two system calls. Large enough
# that it is written in several steps, where `write` takes less than it is given.
PRELUDE = """
import os, random, signal, sys, time, waybill
from waybill._streams import files

OLD, NEW = {"old": ["x" * 1000] * 10}, {"new": list(range(30_000))}

class Small(files.io.FileIO):
    def write(self, data):
        return super().write(data[:10_000])

class SmallIo:
    FileIO = Small
    RawIOBase = files.io.RawIOBase
files.io = SmallIo

def at_event(number, act):
    left = number
    def event(frame, kind, argument):
        nonlocal left
        if argument is sys.setprofile: return
        left -= 1
        if left < 0:
            sys.setprofile(None)
            act()
    return event

def state_of(path):
    value = waybill.load(path)
    assert value in (OLD, NEW), "neither old nor new"
    return "old" if value == OLD else "new"

def leftovers(folder="."):
    return [name for name in os.listdir(folder) if name != "thing"]

def clean():
    for name in os.listdir():
        if name not in ("thing", "payload"): os.unlink(name)
"""

KILLED = (
    PRELUDE
    + """
def attempt(number):
    waybill.save(OLD, "thing")
    child = os.fork()
    if child == 0:
        sys.setprofile(at_event(number, lambda: os.kill(os.getpid(), signal.SIGKILL)))
        try: waybill.save(NEW, "thing")
        finally: sys.setprofile(None)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

seen, names, number = [], set(), 0
while (status := attempt(number)) == -signal.SIGKILL:
    seen.append(state_of("thing"))
    names.update(leftovers())
    clean()
    number += 1
names.discard("payload")
shape = all(n.startswith(".waybill-") and n.endswith(".tmp") for n in names)
answer = status, seen, shape, state_of("thing"), leftovers() in ([], ["payload"])
"""
)


@pytest.mark.once
def test_process_killed_between_any_two_calls_leaves_the_old_file_or_the_new_one():
    status, seen, shape, last, is_clean = fresh_process.execute(KILLED)

    assert (status, shape, last, is_clean) == (0, True, "new", True)
    # First always the old one, from one moment on always the new one.
    assert seen == sorted(seen, reverse=True)
    assert seen.count("old") > 20
    assert seen.count("new") >= 1


INTERRUPTED = (
    PRELUDE
    + """
def interrupt(): raise KeyboardInterrupt

def descriptors(): return sorted(os.listdir("/proc/self/fd")) if has_proc else []
has_proc = os.path.isdir("/proc/self/fd")

answer = []
number = 0
while True:
    waybill.save(OLD, "thing")
    before = descriptors()
    sys.setprofile(at_event(number, interrupt))
    try:
        waybill.save(NEW, "thing")
        ended = True
    except KeyboardInterrupt:
        ended = False
    finally:
        sys.setprofile(None)
    if ended: break
    state = state_of("thing")
    left = [name for name in leftovers() if name != "payload"]
    answer.append((state, left, descriptors() == before))
    number += 1
"""
)


def test_interrupt_between_any_two_calls_leaves_no_temporary_file():
    outcomes = fresh_process.execute(INTERRUPTED)

    states = [state for state, _, _ in outcomes]
    assert states == sorted(states, reverse=True)
    assert set(states) == {"old", "new"}
    assert [left for _, left, _ in outcomes if left] == []


def test_interrupt_before_the_new_file_is_in_place_leaves_no_file_open():
    outcomes = fresh_process.execute(INTERRUPTED)

    assert all(is_closed for state, _, is_closed in outcomes if state == "old")


KILLED_ANY_TIME = (
    PRELUDE
    + """
def work():
    big = {"new": list(range(30_000))}
    while True:
        waybill.save(OLD, "thing")
        waybill.save(big, "thing")

generator = random.Random(int(data))
waybill.save(OLD, "thing")
for _ in range(100):
    child = os.fork()
    if child == 0:
        try: work()
        finally: os._exit(1)
    time.sleep(generator.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == -signal.SIGKILL, status
    state_of("thing")
answer = True
"""
)


@pytest.mark.once
@pytest.mark.parametrize("seed", [b"1", b"2"])
def test_process_killed_at_any_time_leaves_the_old_file_or_the_new_one(seed):
    assert fresh_process.execute(KILLED_ANY_TIME, seed)


# The order of the system calls is what a power failure depends on.
SYNCED = (
    PRELUDE
    + """
calls = []
class Recorded:
    def __getattr__(self, name):
        found = getattr(os, name)
        if name not in ("fsync", "replace"): return found
        def call(*arguments):
            calls.append((name, os.readlink(f"/proc/self/fd/{arguments[0]}")
                          if name == "fsync" else arguments[1]))
            return found(*arguments)
        return call
files.os = Recorded()
waybill.save(NEW, "thing")
here = os.getcwd()
answer = [(name, where.replace(here, "")) for name, where in calls]
"""
)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc")
def test_content_is_on_the_disk_before_its_name_and_then_the_name():
    first, second, third = fresh_process.execute(SYNCED)

    assert first[0] == "fsync" and first[1].startswith("/.waybill-")
    assert second == ("replace", "/thing")
    assert third == ("fsync", "")
