"""Measures leaks: objects, references and memory blocks that remain after each call."""

import gc
import sys


def of(work, rounds, referred=None):
    """The least growth of (objects, references to `referred`, blocks) in five windows
    of `rounds` calls. A leak grows in each window; caches and the interpreter's own
    tables grow only in some."""
    work()
    windows = []
    before = _counts(referred)
    for _ in range(5):
        for _ in range(rounds):
            work()
        after = _counts(referred)
        windows.append([b - a for a, b in zip(before, after, strict=True)])
        before = after
    return [min(window[i] for window in windows) for i in range(3)]


def _counts(referred):
    gc.collect()
    return len(gc.get_objects()), sys.getrefcount(referred), sys.getallocatedblocks()
