"""Counts what a process allocates, of Python's and of C++'s: the peak, to the byte.

The counter (peak_memory.cpp) stands before malloc, and Python's own allocator aside, so
a program has to be started with it: start_again_with_counter().
"""

import contextlib
import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".cpp")


def build(folder):
    """The counter as a shared library."""
    library = Path(folder, "peak_memory.so")
    command = ["g++", "-O2", "-shared", "-fPIC", "-o", library, SOURCE]
    subprocess.run(command, check=True)
    return library


def start_again_with_counter():
    """Starts this program anew, with the counter, unless it is there."""
    if "WAYBILL_PEAK_MEMORY" in os.environ:
        return
    with tempfile.TemporaryDirectory() as folder:
        library = str(build(folder))
        environment = dict(
            os.environ,
            LD_PRELOAD=library,
            PYTHONMALLOC="malloc",
            WAYBILL_PEAK_MEMORY=library,
        )
        sys.exit(subprocess.call([sys.executable, *sys.argv], env=environment))


class Peak:
    bytes = 0


@contextlib.contextmanager
def watch():
    """What its block allocates at most, beyond what there was before."""
    counter = _counter()
    peak = Peak()
    counter.peak_memory_reset()
    yield peak
    peak.bytes = counter.peak_memory_bytes()


def _counter(cache=[]):  # noqa: B006
    if not cache:
        library = ctypes.CDLL(os.environ["WAYBILL_PEAK_MEMORY"])
        library.peak_memory_bytes.restype = ctypes.c_longlong
        cache.append(library)
    return cache[0]
