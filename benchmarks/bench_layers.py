"""Runs the benchmarks of the C++ layers, and prints the fastest run of each.

    python benchmarks/bench_layers.py [--quick] [--out FOLDER]

`.ci/bench` builds the executables in build/benchmarks. Their reports are written to the
folder (build/) as bench_<layer>.json, and the printed figures as bench_layers.json.
"""

import argparse
import json
import subprocess
from pathlib import Path

import show

EXECUTABLES = Path(__file__).resolve().parents[1] / "build" / "benchmarks"


def run(executable, quick):
    """The report of Google Benchmark, as JSON text."""
    options = ["--benchmark_format=json", "--benchmark_repetitions=3"]
    options.append(f"--benchmark_min_time={0.005 if quick else 0.05}")
    report = subprocess.run([executable, *options], capture_output=True, text=True)
    if report.returncode != 0:
        raise SystemExit(f"{executable.name}: {report.stderr}")
    return report.stdout


def fastest_runs(report):
    """{name: (seconds, bytes per second or None)} of the fastest repetition."""
    best = {}
    for run in report["benchmarks"]:
        if run["run_type"] != "iteration":
            continue
        if run.get("error_occurred"):
            raise SystemExit(f"{run['name']}: {run['error_message']}")
        assert run["time_unit"] == "ns"
        name = run["run_name"].replace("_", " ")
        found = (run["cpu_time"] * 1e-9, run.get("bytes_per_second"))
        best[name] = min(best.get(name, found), found)
    return best


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="less exact, in seconds")
    options.add_argument("--out", type=Path, default=Path("build"), metavar="FOLDER")
    chosen = options.parse_args()

    rows = []
    for executable in sorted(EXECUTABLES.glob("bench_*")):
        layer = executable.stem.removeprefix("bench_")
        print(show.paint(layer, show.BOLD))
        text = run(executable, chosen.quick)
        (chosen.out / f"{executable.stem}.json").write_text(text, "utf-8")
        for work, (seconds, speed) in fastest_runs(json.loads(text)).items():
            row = {"layer": layer, "work": work, "seconds": seconds, "speed": speed}
            rows.append(row)
            print(f"  {work:42}{show.figure(seconds, 's'):>11}{show.speed(speed):>14}")
    path = chosen.out / "bench_layers.json"
    path.write_text(json.dumps(rows, indent=2), "utf-8")
    print(f"\nwrote {path}")


if __name__ == "__main__":
    main()
