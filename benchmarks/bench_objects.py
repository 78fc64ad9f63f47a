"""Measures waybill and its peers.

    python benchmarks/bench_objects.py [--quick] [--out FOLDER] [--only GROUP...]

Prints a table, and writes bench.json, bench.md (the tables of docs/performance.md) and
plots to the folder (build/). docs/performance.md explains the figures and their limits.
"""

import argparse
import importlib.metadata
import json
import os
import platform
from pathlib import Path

import cases
import peers
import plots
import rows_arrays
import rows_callables
import rows_data
import rows_functions
import rows_growth
import rows_process
import rows_programs
import show
import tables
import waybill
from bench import Bench

GROUPS = {
    rows_programs.GROUP: rows_programs.rows,
    rows_functions.GROUP: rows_functions.rows,
    rows_callables.GROUP: rows_callables.rows,
    rows_data.GROUP: rows_data.rows,
    rows_arrays.GROUP: rows_arrays.rows,
    rows_growth.GROUP: rows_growth.rows,
    rows_process.GROUP: rows_process.rows,
}


def run(bench, groups):
    cases.load_packages()
    show.print_head()
    if rows_functions.GROUP in groups:
        rows_functions.first_rows(bench)
    sides = peers.load_installed(["waybill", *peers.PEERS])
    for group in groups:
        GROUPS[group](bench, sides)


def describe_machine():
    versions = {}
    for package in ("cloudpickle", "dill", "pyfory", "numpy"):
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
    options.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS))
    chosen = options.parse_args()

    machine = describe_machine()
    print(*(f"{key}: {value}" for key, value in machine.items()), sep="\n")
    bench = Bench(chosen.quick)
    run(bench, chosen.only)
    chosen.out.mkdir(parents=True, exist_ok=True)
    report = {"machine": machine, "rows": bench.rows, "curves": bench.curves}
    (chosen.out / "bench.json").write_text(json.dumps(report, indent=2), "utf-8")
    (chosen.out / "bench.md").write_text(tables.all_tables(report), "utf-8")
    print(f"\nwrote {chosen.out / 'bench.json'} and bench.md")
    plots.draw(report, chosen.out)


if __name__ == "__main__":
    main()
