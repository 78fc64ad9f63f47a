"""The benchmarks' figures as a table on a terminal and as a plot."""

import os
import platform
import sys

COLOURS = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
PEERS = ("cloudpickle", "pickle", "dill", "marshal")
WORK, CELL, RATIO = 48, 12, 9
BOLD, DIM, RED, GREEN = "1", "2", "31", "32"


def paint(text, code):
    return f"\033[{code}m{text}\033[0m" if COLOURS else text


def note(text):
    return paint(text, DIM)


def figure(value, unit):
    """Three digits with a unit that fits."""
    if unit == "B":
        return f"{value:,} B".replace(",", " ")
    if unit == "KiB":
        return f"{value} KiB"
    units = ((1e9, "ns"), (1e6, "µs"), (1e3, "ms"), (1, "s"))
    factor, name = next((u for u in units if value * u[0] < 1000), units[-1])
    number = value * factor
    digits = 2 if number < 10 else 1 if number < 100 else 0
    return f"{number:.{digits}f} {name}"


def ratio(peer, own):
    """How many times the peer's figure is ours: above 1, waybill does better."""
    times = peer / own
    text = f"{times:.2f} x" if times < 10 else f"{times:.0f} x"
    return paint(f"{text:>9}", GREEN if times >= 1 else RED)


def print_head():
    cells = "".join(f"{peer:>{CELL}}{'':{RATIO}}" for peer in PEERS)
    print()
    print(paint(f"{'':{WORK}}{'waybill':>{CELL}}{cells}".rstrip(), BOLD))
    print(note("x: the peer's figure divided by ours; above 1, waybill does better"))


_last_group = [""]


def print_row(row):
    if row["group"] != _last_group[0]:
        print(paint(row["group"], BOLD))
        _last_group[0] = row["group"]
    figures, unit = row["figures"], row["unit"]
    line = f"  {row['work']:{WORK - 2}}{figure(figures['waybill'], unit):>{CELL}}"
    for peer in PEERS:
        if peer in figures:
            line += f"{figure(figures[peer], unit):>{CELL}}"
            line += ratio(figures[peer], figures["waybill"])
        else:
            line += " " * (CELL + RATIO)
    print(line.rstrip(), flush=True)


def markdown(rows):
    """The tables of docs/performance.md."""
    tables = {}
    for row in rows:
        tables.setdefault(row["group"], []).append(row)
    lines = []
    for group, members in tables.items():
        used = {side for row in members for side in row["figures"]}
        peers = [peer for peer in PEERS if peer in used]
        lines += [f"### {group.capitalize()}", ""]
        lines.append(f"| work | waybill | {' | '.join(peers)} |")
        lines.append(f"|---|---:|{'---:|' * len(peers)}")
        for row in members:
            figures, unit = row["figures"], row["unit"]
            cells = [row["work"], figure(figures["waybill"], unit)]
            for peer in peers:
                cells.append("")
                if peer in figures:
                    times = figures[peer] / figures["waybill"]
                    times = f"{times:.2f}" if times < 10 else f"{times:.0f}"
                    cells[-1] = f"{figure(figures[peer], unit)} ({times})"
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def processor():
    """The processor's name; Linux hides it in a file."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def plot_modules(curve, path):
    """dumps of one function against the number of modules in the process."""
    try:
        import matplotlib
    except ImportError:
        print(note("matplotlib is not installed: no plot"))
        return
    matplotlib.use("svg")
    from matplotlib import pyplot

    pyplot.figure(figsize=(7, 4))
    counts = [point["modules"] for point in curve]
    for side, style in (("cloudpickle", "s-"), ("waybill", "o-"), ("marshal", ":")):
        pyplot.loglog(counts, [point[side] * 1e6 for point in curve], style, label=side)
    pyplot.xlabel("entries in sys.modules")
    pyplot.ylabel("µs for each dumps")
    pyplot.title("dumps of a function that names three packages")
    pyplot.grid(alpha=0.3)
    pyplot.legend()
    pyplot.tight_layout()
    pyplot.savefig(path)
    print(f"wrote {path}")
