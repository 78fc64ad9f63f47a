"""Rows about the process: import time, and memory growth."""

import gc

import cases
import timing
import waybill
from bench import format_count

GROUP = "process"


def rows(bench, sides):
    names = [side for side in sides if side != "marshal"]
    best = timing.import_seconds(names, bench.count(15, quick=3))
    bench.add(GROUP, "import", "s", best)
    if timing.resident_kib() is not None:
        memory_rows(bench)


def memory_rows(bench):
    """The growth of memory over many calls, after a tenth as many to warm up."""
    count = bench.count(1_000_000, quick=20_000)
    value = cases.closure()

    def run(times):
        for _ in range(times):
            waybill.loads(waybill.dumps(value))

    def run_new(times):
        for _ in range(times // 1_000):
            for function in cases.make_unseen(cases.names_packages, 10):
                waybill.loads(waybill.dumps(function))

    works = {
        f"growth, {format_count(count)} dumps and loads": run,
        f"growth, {format_count(count // 100)} times new code": run_new,
    }
    for work, function in works.items():
        function(count // 10)
        gc.collect()
        before = timing.resident_kib()
        function(count)
        gc.collect()
        growth = {"waybill": timing.resident_kib() - before}
        bench.add(GROUP, work, "KiB", growth)
