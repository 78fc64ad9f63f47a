"""Collects the rows of the benchmarks: the work, and the figure of each side."""

import goals
import show
import timing


class Bench:
    def __init__(self, quick):
        self.quick = quick
        self.seconds = 0.05 if quick else 0.25  # At least, for each side of a row.
        self.rows = []
        self.curves = {"modules": [], "objects": []}  # For the plots.

    def count(self, whole, quick):
        return quick if self.quick else whole

    def add(self, group, work, unit, figures):
        row = {"group": group, "work": work, "unit": unit, "figures": figures}
        row["goals"] = goals.goals_of(row)
        self.rows.append(row)
        show.print_row(row)

    def add_repeated(self, group, work, calls):
        """A row of one call on one object; `calls`: {side: (function, object)}."""
        self.add(group, work, "s", timing.time_repeated(calls, self.seconds))

    def add_alternating(self, group, work, sides):
        """A row of many objects; `sides`: {side: (function, maker of objects)}."""
        self.add(group, work, "s", timing.time_alternately(sides, self.seconds))

    def add_sizes(self, group, work, payloads):
        figures = {side: len(payload) for side, payload in payloads.items()}
        self.add(group, work, "B", figures)


def format_count(count):
    """30188 as "30 188"."""
    return f"{count:_}".replace("_", " ")
