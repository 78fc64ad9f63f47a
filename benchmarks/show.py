"""The figures of the benchmarks as text, for a terminal and for the tables."""

import os
import platform
import sys

from peers import COLUMNS

COLOURS = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
WORK, CELL, RATIO = 44, 11, 8
BOLD, DIM, RED, GREEN, YELLOW = "1", "2", "31", "32", "33"
TIMES = ((1e9, "ns"), (1e6, "µs"), (1e3, "ms"), (1, "s"))
SIZES = ((1, "B"), (1e-3, "kB"), (1e-6, "MB"))


def paint(text, code):
    return f"\033[{code}m{text}\033[0m" if COLOURS else text


def dim(text):
    return paint(text, DIM)


def digits(number):
    """At least three digits."""
    places = 2 if number < 10 else 1 if number < 100 else 0
    return f"{number:.{places}f}"


def figure(value, unit):
    """A figure with a suitable unit."""
    if unit == "KiB" or (unit == "B" and value < 1000):
        return f"{value} {unit}"
    units = SIZES if unit == "B" else TIMES
    factor, name = next((u for u in units if value * u[0] < 999.5), units[-1])
    return f"{digits(value * factor)} {name}"


def speed(bytes_per_second):
    return f"{bytes_per_second / 1e6:.0f} MB/s" if bytes_per_second else ""


def ratio(peer, own):
    """The peer's figure divided by ours: above 1, waybill does better."""
    value = peer / own
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def is_short(row, peer):
    """Whether the row falls short of a goal by more than 1 %."""
    reached = row["figures"][peer] / row["figures"]["waybill"]
    return reached < 0.99 * row["goals"].get(peer, 0)


def ratio_colour(row, peer):
    if row["figures"][peer] < row["figures"]["waybill"]:
        return RED
    return YELLOW if is_short(row, peer) else GREEN


def print_head():
    cells = "".join(f"{peer:>{CELL}}{'':{RATIO}}" for peer in COLUMNS)
    print()
    print(paint(f"{'':{WORK}}{'waybill':>{CELL}}{cells}".rstrip(), BOLD))
    print(dim("x: the peer's figure divided by ours; above 1, waybill does better"))
    if COLOURS:
        print(dim("yellow: better, but short of the goal"))


_last_group = [""]


def print_row(row):
    if row["group"] != _last_group[0]:
        print(paint(row["group"], BOLD))
        _last_group[0] = row["group"]
    figures, unit = row["figures"], row["unit"]
    line = f"  {row['work']:{WORK - 2}}{figure(figures['waybill'], unit):>{CELL}}"
    for peer in COLUMNS:
        if peer in figures:
            line += f"{figure(figures[peer], unit):>{CELL}}"
            text = ratio(figures[peer], figures["waybill"]) + "x"
            line += paint(f"{text:>{RATIO}}", ratio_colour(row, peer))
        else:
            line += " " * (CELL + RATIO)
    print(line.rstrip(), flush=True)


def processor():
    """The name of the processor, on Linux from /proc/cpuinfo."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
