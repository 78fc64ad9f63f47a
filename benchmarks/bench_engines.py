"""The cost of serialization on engines, against cloudpickle: seconds and bytes.

    python benchmarks/bench_engines.py [--tasks N] [--repeat N]

Dask: a real cluster, measured in all its processes. joblib and multiprocessing: the
messages that they send for these tasks, packed by their own picklers and unpacked as by
their workers; and the wall time of a real run. multiprocessing cannot use cloudpickle,
so functions are wrapped for it, as usual. Figures are minima of the repeats.
"""

import argparse
import multiprocessing
import pickle
import time

import cloudpickle
import dask_meter
import distributed
import joblib
import numpy
import waybill.integrations.dask
import waybill.integrations.joblib
import waybill.integrations.multiprocessing
from joblib.externals.loky.backend import reduction as loky_reduction
from joblib.externals.loky.process_executor import _CallItem

SIDES = ("cloudpickle", "waybill")


def make_task():
    """The function of each task: a closure that uses a module and a helper."""
    scale, table = 3, {"a": 1, "b": 2}

    def helper(x):
        return x * scale

    def task(x):
        return float(numpy.sqrt(helper(x))) + table["a"]

    return task


class Wrapped:
    """A function that pickles by cloudpickle."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args):
        return self.function(*args)

    def __reduce__(self):
        return cloudpickle.loads, (cloudpickle.dumps(self.function),)


# ---- Dask --------------------------------------------------------------------------


def measure_dask(side, count):
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        if side == "waybill":
            waybill.integrations.dask.install(client)
        client.gather(client.map(make_task(), range(2)))
        dask_meter.start_all(client)
        start = time.perf_counter()
        client.gather(client.map(make_task(), range(2, count + 2)))
        seconds = time.perf_counter() - start
        figures = dask_meter.stop_all(client)
    waybill.integrations.dask.uninstall()
    total = {name: sum(side[name] for side in figures) for name in dask_meter.NAMES}
    return total["packing"], total["unpacking"], total["bytes"], seconds


# ---- Messages ----------------------------------------------------------------------


def measure_messages(pack, messages):
    """Seconds to pack and to unpack the messages, and their bytes."""
    start = time.perf_counter()
    packed = [pack(message) for message in messages]
    packing = time.perf_counter() - start
    start = time.perf_counter()
    for data in packed:
        pickle.loads(data)
    unpacking = time.perf_counter() - start
    return packing, unpacking, sum(memoryview(data).nbytes for data in packed)


def measure_joblib(side, count):
    """Messages of loky, one task in each; its workers were started before."""
    if side == "waybill":
        waybill.integrations.joblib.install()
    task, parallel = make_task(), joblib.Parallel(n_jobs=2, batch_size=1)
    with parallel:
        parallel(joblib.delayed(task)(i) for i in range(4))
        start = time.perf_counter()
        parallel(joblib.delayed(task)(i) for i in range(count))
        seconds = time.perf_counter() - start
        messages = [_CallItem(i, task, (i,), {}) for i in range(count)]
        figures = measure_messages(loky_reduction.dumps, messages)
    waybill.integrations.joblib.uninstall()
    return *figures, seconds


def measure_multiprocessing(side, count):
    """Messages of a Pool, one task in each."""
    function = make_task()
    if side == "waybill":
        waybill.integrations.multiprocessing.install()
    else:
        function = Wrapped(function)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(function, range(4), chunksize=1)
        start = time.perf_counter()
        pool.map(function, range(count), chunksize=1)
        seconds = time.perf_counter() - start
    pickler = multiprocessing.reduction.ForkingPickler
    mapped = multiprocessing.pool.mapstar
    messages = [(1, i, mapped, ((function, (i,)),), {}) for i in range(count)]
    figures = measure_messages(pickler.dumps, messages)
    waybill.integrations.multiprocessing.uninstall()
    return *figures, seconds


ENGINES = {
    "Dask": measure_dask,
    "joblib": measure_joblib,
    "multiprocessing": measure_multiprocessing,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("engines", nargs="*", default=list(ENGINES))
    options = parser.parse_args()
    print(f"| {options.tasks} tasks | | packing | unpacking | bytes | wall |")
    print("|---|---|---:|---:|---:|---:|")
    for engine in options.engines:
        # Alternately, so that other load of the machine affects both.
        runs = {side: [] for side in SIDES}
        for _ in range(options.repeat):
            for side in SIDES:
                runs[side].append(ENGINES[engine](side, options.tasks))
        for side in SIDES:
            packing, unpacking, size, wall = map(min, zip(*runs[side], strict=True))
            times = f"{packing * 1e3:.0f} ms | {unpacking * 1e3:.0f} ms"
            print(
                f"| {engine} | {side} | {times} | {size / 1e6:.2f} MB | {wall:.2f} s |",
                flush=True,
            )


if __name__ == "__main__":
    main()
