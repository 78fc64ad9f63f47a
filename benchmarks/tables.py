"""The benchmarks' figures as the tables of docs/performance.md."""

import goals
import show
from peers import COLUMNS


def grid(head, rows):
    """A table in markdown whose first column is text."""
    rule = "|".join(["---", *("---:" for _ in head[1:])])
    lines = [f"| {' | '.join(head)} |", f"|{rule}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def groups(report):
    """{group: its rows}."""
    found = {}
    for row in report["rows"]:
        found.setdefault(row["group"], []).append(row)
    return found


def of_group(rows):
    used = {side for row in rows for side in row["figures"]}
    columns = [peer for peer in COLUMNS if peer in used]
    return grid(
        ["work", "waybill", *columns],
        [
            [row["work"], own(row), *(cell(row, peer) for peer in columns)]
            for row in rows
        ],
    )


def of_goals(report):
    """The machine, and one table of the rows that are aimed at by name."""
    rows = [row for row in report["rows"] if goals.are_named(row)]
    named = [row | {"work": f"{row['group']}: {row['work']}"} for row in rows]
    return f"{of_machine(report)}\n\n{of_group(named)}"


def own(row):
    return show.figure(row["figures"]["waybill"], row["unit"])


def cell(row, peer):
    """A peer's figure, its ratio, and the goal where that falls short of it."""
    if peer not in row["figures"]:
        return ""
    peers, ours = row["figures"][peer], row["figures"]["waybill"]
    text = show.figure(peers, row["unit"])
    if not ours:
        return text
    goal = (
        f", goal {round(row['goals'][peer], 2):,g}" if show.is_short(row, peer) else ""
    )
    return f"{text} ({show.times(peers, ours)}{goal})"


def of_machine(report):
    about = report["machine"]
    packages = ("cloudpickle", "dill", "pyfory", "numpy")
    versions = ", ".join(f"{name} {about[name]}" for name in packages if name in about)
    cores = f"{about['cores']} cores" if about["cores"] != 1 else "one core"
    system = about["system"].partition("-")[0]
    machine = f"{system}, {about['processor']}, {cores}"
    return f"CPython {about['python']}, {versions}; {machine}."


def of_layers(rows):
    return grid(
        ["work", "time", "speed"],
        [
            [
                f"{row['layer']}: {row['work']}",
                show.figure(row["seconds"], "s"),
                show.speed(row["speed"]),
            ]
            for row in rows
        ],
    )


def all_of(report):
    parts = [of_machine(report)]
    for group, rows in groups(report).items():
        parts += [f"### {group.capitalize()}", of_group(rows)]
    return "\n\n".join(parts) + "\n"
