"""Measures waybill against its peers, side by side.

    python benchmarks/bench_objects.py [--quick] [--out FOLDER] [--only GROUP...]

Prints a table, and writes bench.json, bench.md (the tables of docs/performance.md) and
plots to the folder (build/). What the figures mean, and what they do not show:
docs/performance.md.
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
    rows_functions.GROUP: rows_functions.late,
    rows_callables.GROUP: rows_callables.rows,
    rows_data.GROUP: rows_data.rows,
    rows_arrays.GROUP: rows_arrays.rows,
    rows_growth.GROUP: rows_growth.rows,
    rows_process.GROUP: rows_process.rows,
}


def run(bench, groups):
    cases.packages_are_loaded()
    show.print_head()
    if rows_functions.GROUP in groups:
        rows_functions.early(bench)
    sides = peers.installed(["waybill", *peers.PEERS])
    for group in groups:
        GROUPS[group](bench, sides)


def machine():
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

    about = machine()
    print(*(f"{key}: {value}" for key, value in about.items()), sep="\n")
    bench = Bench(chosen.quick)
    run(bench, chosen.only)
    chosen.out.mkdir(parents=True, exist_ok=True)
    report = {"machine": about, "rows": bench.rows, "curves": bench.curves}
    (chosen.out / "bench.json").write_text(json.dumps(report, indent=2), "utf-8")
    (chosen.out / "bench.md").write_text(tables.all_of(report), "utf-8")
    print(f"\nwrote {chosen.out / 'bench.json'} and bench.md")
    plots.draw(report, chosen.out)


if __name__ == "__main__":
    main()
