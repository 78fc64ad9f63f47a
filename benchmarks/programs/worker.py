"""A worker that loads, calls and drops each task, like those of pools:

    python worker.py SERIALIZER FILE drop|keep RUNS

Prints the seconds of one `loads`: the minimum of RUNS runs over the payloads in FILE,
which sender.py wrote. With `keep`, each task lives until the next one has run.
"""

import gc
import importlib
import math
import pickle
import sys
import time


def call(task):
    if isinstance(task, tuple):
        function, args, kwargs = task
        return function(*args, **kwargs)
    return task


def main(serializer, file, last, runs):
    loads = importlib.import_module(serializer).loads
    with open(file, "rb") as opened:
        payloads = pickle.load(opened)
    best, previous = math.inf, None
    for _ in range(runs):
        gc.collect()
        seconds = 0.0
        for payload in payloads:
            started = time.perf_counter()
            task = loads(payload)
            seconds += time.perf_counter() - started
            result = call(task)
            if last == "keep":
                previous = task, result
            del task, result
        best = min(best, seconds)
    del previous
    print(best / len(payloads))


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]))
