"""Measures waybill against cloudpickle, pickle, dill and marshal, side by side.

    python benchmarks/bench_objects.py [--quick] [--out FOLDER]

Prints a table, and writes bench.json, bench.md (the tables of docs/performance.md) and
bench_modules.svg to the folder (build/). What the figures mean, and what they do not
show: docs/performance.md.
"""

import argparse
import functools
import gc
import importlib.metadata
import json
import marshal
import os
import pickle
import platform
import sys
from pathlib import Path

import cases
import cloudpickle
import show
import timing
import waybill

pickle_5 = functools.partial(pickle.dumps, protocol=5)


class Bench:
    """Gathers rows: what was done, and the figure of each side."""

    def __init__(self, quick):
        self.quick = quick
        self.seconds = 0.1 if quick else 0.6
        self.rows = []
        self.curve = []
        # dill is imported late: the rows about sys.modules come first.
        self.dill = None

    def add(self, group, work, unit, figures):
        row = {"group": group, "work": work, "unit": unit, "figures": figures}
        self.rows.append(row)
        show.print_row(row)

    def time(self, group, work, calls):
        self.add(group, work, "s", timing.repeated(calls, self.seconds))

    # ---- Functions -----------------------------------------------------------------

    def function_of_modules(self):
        function = cases.names_modules()
        calls = {
            "waybill": (waybill.dumps, function),
            "cloudpickle": (cloudpickle.dumps, function),
            "marshal": (marshal.dumps, function.__code__),
        }
        self.time("functions", "dumps, names 3 modules", calls)

    def function_of_packages(self):
        function = cases.names_packages()
        calls = {
            "waybill": (waybill.dumps, function),
            "cloudpickle": (cloudpickle.dumps, function),
            "marshal": (marshal.dumps, function.__code__),
        }
        counts = [len(sys.modules), 1_000, 3_188, 10_000, 30_188, 100_000]
        for count in counts:
            with cases.modules_loaded(count):
                best = timing.repeated(calls, self.seconds)
            self.curve.append({"modules": count, **best})
            work = f"dumps, names 3 packages, {count:_} loaded".replace("_", " ")
            self.add("functions", work, "s", best)

    def code_never_seen(self):
        count = 50 if self.quick else 200

        def payloads(dumps):
            return [dumps(function) for function in cases.never_seen(count)]

        peers = {"waybill": waybill, "cloudpickle": cloudpickle}
        new = functools.partial(cases.never_seen, count)
        sides = {name: (module.dumps, new) for name, module in peers.items()}
        sides["marshal"] = (
            marshal.dumps,
            lambda: [f.__code__ for f in cases.never_seen(count)],
        )
        best = timing.in_turn(sides, self.seconds)
        self.add("functions", "dumps, code never seen", "s", best)
        sides = {
            name: (module.loads, functools.partial(payloads, module.dumps))
            for name, module in peers.items()
        }
        best = timing.in_turn(sides, self.seconds)
        self.add("functions", "loads, code never seen", "s", best)

    def task_stream(self):
        count = 1_000 if self.quick else 10_000
        stream = cases.tasks(count)
        peers = {"waybill": waybill, "cloudpickle": cloudpickle}
        sides = {name: (module.dumps, lambda: stream) for name, module in peers.items()}
        best = timing.in_turn(sides, self.seconds)
        whole = {name: seconds * count for name, seconds in best.items()}
        work = f"{count:_} tasks, dumps each".replace("_", " ")
        self.add("functions", work, "s", whole)

    def callables(self):
        """Each kind of callable, both ways, with its size."""
        for name, make in cases.CALLABLES.items():
            value = make()
            peers = {"waybill": waybill.dumps, "cloudpickle": cloudpickle.dumps}
            if self.dill is not None:
                peers["dill"] = functools.partial(self.dill.dumps, recurse=True)
            loads = {"waybill": waybill.loads, "cloudpickle": cloudpickle.loads}
            loads["dill"] = getattr(self.dill, "loads", None)
            data = {side: dumps(value) for side, dumps in peers.items()}
            calls = {side: (dumps, value) for side, dumps in peers.items()}
            self.time("callables", f"{name}: dumps", calls)
            calls = {side: (loads[side], data[side]) for side in data}
            self.time("callables", f"{name}: loads", calls)
            sizes = {side: len(payload) for side, payload in data.items()}
            self.add("callables", f"{name}: size", "B", sizes)

    # ---- Data ----------------------------------------------------------------------

    def plain_data(self):
        for name, make in cases.DATA.items():
            value = make()
            self.data_rows(name, value)
            # Equal objects come back, on this very data.
            if waybill.loads(waybill.dumps(value)) != value:
                raise AssertionError(f"{name} came back changed")

    def array(self):
        try:
            import numpy
        except ImportError:
            print(show.note("numpy is not installed: no arrays"))
            return
        megabytes = 10 if self.quick else 100
        self.data_rows(f"{megabytes} MB array", numpy.ones(megabytes * 125_000))

    def data_rows(self, name, value):
        data = {"waybill": waybill.dumps(value), "pickle": pickle_5(value)}
        calls = {"waybill": (waybill.dumps, value), "pickle": (pickle_5, value)}
        self.time("data", f"{name}: dumps", calls)
        calls = {
            "waybill": (waybill.loads, data["waybill"]),
            "pickle": (pickle.loads, data["pickle"]),
        }
        self.time("data", f"{name}: loads", calls)
        sizes = {side: len(payload) for side, payload in data.items()}
        self.add("data", f"{name}: size", "B", sizes)

    # ---- The process ---------------------------------------------------------------

    def import_time(self):
        best = timing.import_seconds(
            ["waybill", "cloudpickle"], 5 if self.quick else 20
        )
        self.add("process", "import", "s", best)

    def memory(self):
        """Growth of memory over many calls, after as many that warm up."""
        if timing.resident_kib() is None:
            return
        count = 20_000 if self.quick else 1_000_000
        value = cases.closure()

        def run(times):
            for _ in range(times):
                waybill.loads(waybill.dumps(value))

        def run_new(times):
            for _ in range(times // 1_000):
                for function in cases.never_seen(10):
                    waybill.loads(waybill.dumps(function))

        works = {
            f"growth, {count:_} dumps and loads": run,
            f"growth, {count // 100:_} times new code": run_new,
        }
        for work, function in works.items():
            function(count // 10)
            gc.collect()
            before = timing.resident_kib()
            function(count)
            gc.collect()
            growth = {"waybill": timing.resident_kib() - before}
            self.add("process", work.replace("_", " "), "KiB", growth)

    def run(self):
        cases.packages_are_loaded()
        show.print_head()
        self.function_of_modules()
        self.function_of_packages()
        self.code_never_seen()
        self.task_stream()
        try:
            import dill

            self.dill = dill
        except ImportError:
            print(show.note("dill is not installed: its column stays empty"))
        self.callables()
        self.plain_data()
        self.array()
        self.import_time()
        self.memory()


def machine():
    versions = {}
    for package in ("cloudpickle", "dill", "numpy"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return {
        "python": platform.python_version(),
        "waybill": waybill.__version__,
        **versions,
        "system": platform.platform(),
        "processor": show.processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="less exact, in seconds")
    options.add_argument("--out", type=Path, default=Path("build"), metavar="FOLDER")
    chosen = options.parse_args()

    about = machine()
    print(*(f"{key}: {value}" for key, value in about.items()), sep="\n")
    bench = Bench(chosen.quick)
    bench.run()
    chosen.out.mkdir(parents=True, exist_ok=True)
    report = {"machine": about, "rows": bench.rows, "modules": bench.curve}
    (chosen.out / "bench.json").write_text(json.dumps(report, indent=2), "utf-8")
    (chosen.out / "bench.md").write_text(show.markdown(bench.rows), "utf-8")
    print(f"\nwrote {chosen.out / 'bench.json'} and bench.md")
    show.plot_modules(bench.curve, chosen.out / "bench_modules.svg")


if __name__ == "__main__":
    main()
