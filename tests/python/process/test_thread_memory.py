"""A thread's first call of waybill, when there is no memory left.

What C++ needs for its first exception in a thread is allocated late, by glibc, which
ends the process if it cannot. Each thread here is new, and its first call raises.
"""

import json
import os
import sys

import fresh_process
import pytest

pytestmark = [
    pytest.mark.skipif(
        not sys.platform.startswith("linux") or "WAYBILL_SANITIZED" in os.environ,
        reason="limits the memory of a process; sanitizers reserve terabytes",
    ),
    pytest.mark.skipif(
        sys.version_info >= (3, 15),
        reason="3.15 by itself crashes where its objects find no memory",
    ),
]

PROGRAM = """
import io, json, resource, sys, threading
import waybill

def refuse(): waybill.loads(b"x")
LOCK = threading.Lock()
def send(): waybill.dumps(LOCK)
def stream(): waybill.load(io.BytesIO(b"x"))
def key(): waybill.security.KeyRing.from_text("x")
def policy(): waybill.security.Policy("x")
def inspect(): waybill.inspect(b"x")

work = {"refuse": refuse, "send": send, "stream": stream, "key": key,
        "policy": policy, "inspect": inspect}[sys.argv[1]]
told = []

def fill(least):
    held, size = [], 1 << 26
    while size >= least:
        try:
            held.append(bytearray(size))
        except MemoryError:
            size //= 2
    return held

def outcome(least):
    held = fill(least)
    try:
        work()
    except BaseException as error:
        del held
        return type(error).__name__
    return "nothing was raised"

def first_and_second(least):
    told.append([outcome(least), outcome(1 << 40)])

with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * 4096
# Less than the first block of fill(), which would go to the heap where that has a rest,
# and stay there: see FREE_TO_SYSTEM.
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 26) - (1 << 20),) * 2)
for power in range(3, 14):
    if sys.argv[2] == "main":
        first_and_second(1 << power)
    else:
        thread = threading.Thread(target=first_and_second, args=(1 << power,))
        thread.start()
        thread.join()
print(json.dumps(told))
"""

NAMES = {
    "refuse": "DecodeError",
    "send": "EncodeError",
    "stream": "DecodeError",
    "key": "SignatureError",
    "policy": "ValueError",
    "inspect": "DecodeError",
}


#: With glibc's own thresholds, freed blocks may stay in the heap: then the second call
#: has no memory either, to map the library of an import for example.
FREE_TO_SYSTEM = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


@pytest.mark.parametrize("place", ["main", "thread"])
@pytest.mark.parametrize("work", NAMES)
def test_first_exception_without_memory_is_a_memory_error(work, place):
    env = {**os.environ, **FREE_TO_SYSTEM}
    told = json.loads(fresh_process.run_script(PROGRAM, work, place, env=env))

    assert len(told) == 11
    for first, second in told:
        assert first in (NAMES[work], "MemoryError")
        assert second == NAMES[work]
