"""Writes what `make bench` and `make bench-newest` measured into docs/performance.md,
with the plots of the former.

    python benchmarks/record.py [--from FOLDER]

A table belongs between a line "<!-- bench: NAME -->" and the next "<!-- end -->".
"""

import argparse
import json
import re
from pathlib import Path

import tables

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "performance.md"
PLOTS = DOCS / "plots"


def of_report(report):
    groups = tables.groups(report)
    parts = {group: tables.of_group(rows) for group, rows in groups.items()}
    return parts | {"machine": tables.of_machine(report)}


#: What each file of the folder gives: {name of a marker: what belongs there}.
FILES = {
    "bench.json": of_report,
    "bench_layers.json": lambda rows: {"layers": tables.of_layers(rows)},
    "newest/bench.json": lambda report: {"newest": tables.of_goals(report)},
}


def parts_of(folder):
    """{name of a marker: what belongs there}, from the files that are there."""
    parts = {}
    for name, of_file in FILES.items():
        if (folder / name).exists():
            parts |= of_file(json.loads((folder / name).read_text("utf-8")))
    return parts


def filled(page, parts):
    """The page with the parts between its markers."""

    def part(marker):
        return (
            f"{marker[1]}\n\n{parts.get(marker[2], marker[3].strip())}\n\n{marker[4]}"
        )

    pattern = r"(<!-- bench: (\w+) -->)(.*?)(<!-- end -->)"
    return re.sub(pattern, part, page, flags=re.S)


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--from", dest="folder", type=Path, default=Path("build"))
    folder = options.parse_args().folder

    parts = parts_of(folder)
    if not parts:
        raise SystemExit(f"nothing was measured in {folder}")
    PAGE.write_text(filled(PAGE.read_text("utf-8"), parts), "utf-8")
    PLOTS.mkdir(exist_ok=True)
    for plot in sorted(folder.glob("bench_*.svg")):
        lines = plot.read_text("utf-8").splitlines()
        text = "".join(f"{line.rstrip()}\n" for line in lines)
        (PLOTS / plot.name).write_text(text, "utf-8")
    print(f"wrote {PAGE} and {PLOTS}")


if __name__ == "__main__":
    main()
