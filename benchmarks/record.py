"""Writes the results of `make bench` and `make bench-newest` into docs/performance.md,
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


def tables_of(report):
    groups = tables.rows_by_group(report)
    parts = {group: tables.group_table(rows) for group, rows in groups.items()}
    return parts | {"machine": tables.machine_text(report)}


#: For each file of the folder, a function from its content to {name of a marker: text}.
FILES = {
    "bench.json": tables_of,
    "bench_layers.json": lambda rows: {"layers": tables.layers_table(rows)},
    "newest/bench.json": lambda report: {"newest": tables.goals_table(report)},
}


def parts_of(folder):
    """{name of a marker: text}, from the files that exist."""
    parts = {}
    for name, parts_of_file in FILES.items():
        if (folder / name).exists():
            parts |= parts_of_file(json.loads((folder / name).read_text("utf-8")))
    return parts


def fill(page, parts):
    """The page with the parts between their markers."""

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
    PAGE.write_text(fill(PAGE.read_text("utf-8"), parts), "utf-8")
    PLOTS.mkdir(exist_ok=True)
    for plot in sorted(folder.glob("bench_*.svg")):
        lines = plot.read_text("utf-8").splitlines()
        text = "".join(f"{line.rstrip()}\n" for line in lines)
        (PLOTS / plot.name).write_text(text, "utf-8")
    print(f"wrote {PAGE} and {PLOTS}")


if __name__ == "__main__":
    main()
