"""Figures of fuzzing, added up over all runs.

    python fuzz/report.py add <harness> <log> <CPU seconds>...
    python fuzz/report.py

The first adds what libFuzzer wrote into a log to build/fuzz/<harness>.json; both print
the table of docs/fuzzing.md.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

BUILD = Path(__file__).resolve().parent.parent / "build" / "fuzz"
HARNESSES = BUILD.parent / "asan"
HEADINGS = (
    "harness",
    "executions",
    "per CPU second",
    "CPU seconds",
    "cov",
    "ft",
    "corpus files",
    "corpus bytes",
    "finds",
)


def last_number(pattern: str, log: str) -> int:
    found = re.findall(pattern, log, re.MULTILINE)
    return int(found[-1]) if found else 0


def read_state(harness: str) -> dict[str, Any]:
    path = BUILD / f"{harness}.json"
    fresh = {
        "executions": 0,
        "cpu_seconds": 0.0,
        "runs": 0,
        "coverage": 0,
        "features": 0,
    }
    return json.loads(path.read_text()) if path.exists() else fresh


def add(harness: str, log_path: str, *cpu_seconds: str) -> None:
    """Adds executions and seconds. Coverage is that of the last run, which starts with
    the corpus of the runs before."""
    log = Path(log_path).read_text(errors="replace")
    state = read_state(harness)
    # A crash may leave no statistics behind.
    state["executions"] += last_number(
        r"^stat::number_of_executed_units: *(\d+)", log
    ) or last_number(r"^#(\d+)\t", log)
    state["cpu_seconds"] += sum(map(float, cpu_seconds))
    state["runs"] += 1
    state["coverage"] = last_number(r"\bcov: (\d+)", log)
    state["features"] = last_number(r"\bft: (\d+)", log)
    (BUILD / f"{harness}.json").write_text(json.dumps(state, indent=1) + "\n")


def row(harness: str) -> list[str]:
    state = read_state(harness)
    corpus = [path for path in (BUILD / "corpus" / harness).glob("*") if path.is_file()]
    finds = [
        path
        for path in (BUILD / "finds").glob(f"{harness}-*")
        if "-slow-unit-" not in path.name  # libFuzzer keeps those, and goes on.
    ]
    seconds = state["cpu_seconds"]
    numbers = (
        state["executions"],
        round(state["executions"] / seconds) if seconds else 0,
        round(seconds),
        state["coverage"],
        state["features"],
        len(corpus),
        sum(path.stat().st_size for path in corpus),
        len(finds),
    )
    return [f"`{harness}`", *(f"{number:,}".replace(",", " ") for number in numbers)]


def table() -> str:
    harnesses = sorted(path.stem for path in BUILD.glob("*.json"))
    rows = [list(HEADINGS), ["---"] + ["---:"] * (len(HEADINGS) - 1)]
    rows += [row(harness) for harness in harnesses if is_harness(harness)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def is_harness(name: str) -> bool:
    return (HARNESSES / f"fuzz_{name}").exists()


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["add"]:
        add(*arguments[1:])
    print(table())


if __name__ == "__main__":
    main(sys.argv[1:])
