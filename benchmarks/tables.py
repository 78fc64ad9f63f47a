"""The benchmarks' figures as the tables of docs/performance.md."""

import show
from peers import PEERS


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
    columns = [peer for peer in PEERS if peer in used]
    return grid(
        ["work", "waybill", *columns],
        [
            [row["work"], own(row), *(cell(row, peer) for peer in columns)]
            for row in rows
        ],
    )


def own(row):
    return show.figure(row["figures"]["waybill"], row["unit"])


def cell(row, peer):
    """A peer's figure, its ratio, and a mark where that is short of the goal."""
    if peer not in row["figures"]:
        return ""
    peers, ours = row["figures"][peer], row["figures"]["waybill"]
    if not ours:
        return show.figure(peers, row["unit"])
    goal = row["goals"].get(peer)
    short = goal is not None and peers / ours < goal
    mark = f", goal {goal:.3g}" if short and goal < 1000 else ""
    mark = f", goal {goal}" if short and goal >= 1000 else mark
    return f"{show.figure(peers, row['unit'])} ({show.times(peers, ours)}{mark})"


def of_machine(report):
    about = report["machine"]
    packages = ("cloudpickle", "dill", "pyfory", "numpy")
    versions = ", ".join(f"{name} {about[name]}" for name in packages if name in about)
    cores = f"{about['cores']} cores" if about["cores"] != 1 else "one core"
    system = about["system"].partition("-")[0]
    machine = f"{system}, {about['processor']}, {cores}"
    return f"CPython {about['python']}, {versions}; {machine}."


def all_of(report):
    parts = [of_machine(report)]
    for group, rows in groups(report).items():
        parts += [f"### {group.capitalize()}", of_group(rows)]
    return "\n\n".join(parts) + "\n"
