"""Measures the peak of the memory that a process allocates, in Python and C++, in
bytes.

The counter (peak_memory.cpp) replaces malloc, and Python's own allocator is off, so a
program has to be started with it: start_again_with_counter().
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
    """Starts this program again with the counter, unless it has that."""
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
    """Measures the peak of what its block allocates."""
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
