"""Rows about typical programs: a script that sends tasks, and a worker process that
loads, calls and drops each."""

import subprocess
import sys
import tempfile
from pathlib import Path

GROUP = "programs"

PROGRAMS = Path(__file__).parent / "programs"

#: The works of programs/sender.py, and their titles in the tables.
WORKS = {
    "tasks": "tasks over functions of the script",
    "tasks_with_helpers": "tasks with helpers and imported names",
    "functions": "functions of the script",
    "bare_functions": "a bare function, 2 chains",
    "instances": "instances of a class of the script",
    "graphs": "objects of three classes of the script",
    "tasks_with_classes": "tasks whose function names classes of the script",
    "tasks_with_data": "tasks with 100 rows and a date",
}


#: The same with prepared functions; compared also with msgpack's C packer, which packs
#: the arguments alone.
PREPARED = {
    "tasks": "tasks, functions prepared",
    "tasks_with_helpers": "tasks with helpers, functions prepared",
}


def rows(bench, sides):
    names = [side for side in ("waybill", "cloudpickle") if side in sides]
    for work, title in WORKS.items():
        figures = {step: {} for step in ("dumps", "loads, dropped", "loads, kept")}
        for _ in range(bench.count(5, quick=1)):
            for side in names:
                for step, seconds in time_steps(bench, side, work).items():
                    best = figures[step].get(side, seconds)
                    figures[step][side] = min(best, seconds)
        for step, found in figures.items():
            bench.add(GROUP, f"{title}: {step}", "s", found)
    for work, title in PREPARED.items():
        best = {}
        for _ in range(bench.count(5, quick=1)):
            for side in [*names, "msgpack"]:
                seconds = time_dumps(bench, side, f"{work} prepared")
                best[side] = min(best.get(side, seconds), seconds)
        bench.add(GROUP, f"{title}: dumps", "s", best)


def time_steps(bench, side, work):
    """{step: seconds of one call}, each step in a new process."""
    sizes = [str(bench.count(1_000, quick=60)), str(bench.count(10, quick=3))]
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "payloads"))
        return {
            "dumps": run("sender.py", side, work, file, *sizes),
            "loads, dropped": run("worker.py", side, file, "drop", sizes[1]),
            "loads, kept": run("worker.py", side, file, "keep", sizes[1]),
        }


def time_dumps(bench, side, work):
    sizes = [str(bench.count(1_000, quick=60)), str(bench.count(10, quick=3))]
    with tempfile.TemporaryDirectory() as folder:
        return run("sender.py", side, work, str(Path(folder, "payloads")), *sizes)


def run(program, *arguments):
    command = [sys.executable, str(PROGRAMS / program), *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout)
