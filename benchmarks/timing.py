"""Measures calls of several sides: alternately, in one process, fastest of many."""

import gc
import os
import subprocess
import sys
import time

BATCH_SECONDS = 0.002


def time_batch(function, inputs):
    """Seconds for each input, over one batch."""
    start = time.perf_counter()
    for value in inputs:
        function(value)
    return (time.perf_counter() - start) / len(inputs)


def repeat_input(function, value):
    """A maker of batches of one value that take about BATCH_SECONDS."""
    once = time_batch(function, [value])
    if once < BATCH_SECONDS:
        once = min(time_batch(function, [value]) for _ in range(3))
    batch = [value] * max(1, min(10_000, int(BATCH_SECONDS / max(once, 1e-9))))
    return lambda: batch


def time_alternately(sides, seconds):
    """The fastest seconds per call of each side.

    `sides` maps a name to (function, maker of inputs). New inputs are made for each
    batch, outside of the timing. Batches of all sides alternate, so that other load of
    the machine affects all of them. The garbage collector stays on, as in programs;
    existing objects are frozen, so that it does not traverse them.
    """
    gc.collect()
    gc.freeze()
    best = dict.fromkeys(sides, float("inf"))
    end, rounds = time.perf_counter() + seconds * len(sides), 0
    while rounds < 3 or time.perf_counter() < end:
        for name, (function, make_inputs) in sides.items():
            best[name] = min(best[name], time_batch(function, make_inputs()))
        rounds += 1
    gc.unfreeze()
    return best


def time_repeated(calls, seconds):
    """time_alternately() for one value; `calls` maps a name to (function, value)."""
    sides = {name: (f, repeat_input(f, value)) for name, (f, value) in calls.items()}
    return time_alternately(sides, seconds)


def import_seconds(modules, rounds):
    """The fastest `import` of each module, each in a new process."""
    best = dict.fromkeys(modules, float("inf"))
    for _ in range(rounds):
        for module in modules:
            program = (
                "import time; start = time.perf_counter(); "
                f"import {module}; print(time.perf_counter() - start)"
            )
            run = subprocess.run(
                [sys.executable, "-c", program], capture_output=True, check=True
            )
            best[module] = min(best[module], float(run.stdout))
    return best


def resident_kib():
    """Memory of this process; None if the system does not report it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024
