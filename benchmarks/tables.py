"""The figures of the benchmarks as tables for docs/performance.md."""

import goals
import show
from peers import COLUMNS


def table(head, rows):
    """A Markdown table whose first column is text."""
    rule = "|".join(["---", *("---:" for _ in head[1:])])
    lines = [f"| {' | '.join(head)} |", f"|{rule}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def rows_by_group(report):
    """{group: its rows}."""
    found = {}
    for row in report["rows"]:
        found.setdefault(row["group"], []).append(row)
    return found


def group_table(rows):
    used = {side for row in rows for side in row["figures"]}
    columns = [peer for peer in COLUMNS if peer in used]
    return table(
        ["work", "waybill", *columns],
        [
            [row["work"], own_cell(row), *(peer_cell(row, peer) for peer in columns)]
            for row in rows
        ],
    )


def goals_table(report):
    """The machine, and a table of the rows that have goals."""
    rows = [row for row in report["rows"] if goals.has_own_goals(row)]
    named = [row | {"work": f"{row['group']}: {row['work']}"} for row in rows]
    return f"{machine_text(report)}\n\n{group_table(named)}"


def own_cell(row):
    return show.figure(row["figures"]["waybill"], row["unit"])


def peer_cell(row, peer):
    """A peer's figure, its ratio, and the goal if the ratio falls short of it."""
    if peer not in row["figures"]:
        return ""
    theirs, ours = row["figures"][peer], row["figures"]["waybill"]
    text = show.figure(theirs, row["unit"])
    if not ours:
        return text
    goal = (
        f", goal {round(row['goals'][peer], 2):,g}" if show.is_short(row, peer) else ""
    )
    return f"{text} ({show.ratio(theirs, ours)}{goal})"


def machine_text(report):
    about = report["machine"]
    packages = ("cloudpickle", "dill", "pyfory", "numpy")
    versions = ", ".join(f"{name} {about[name]}" for name in packages if name in about)
    cores = f"{about['cores']} cores" if about["cores"] != 1 else "one core"
    system = about["system"].partition("-")[0]
    machine = f"{system}, {about['processor']}, {cores}"
    return f"CPython {about['python']}, {versions}; {machine}."


def layers_table(rows):
    return table(
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


def all_tables(report):
    parts = [machine_text(report)]
    for group, rows in rows_by_group(report).items():
        parts += [f"### {group.capitalize()}", group_table(rows)]
    return "\n\n".join(parts) + "\n"
