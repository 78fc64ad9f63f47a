"""Rows about the size of the payload: the cost of an object among 1 to 10⁷."""

import datasets
import timing
from bench import format_count

GROUP = "growth"
SIDES = ("waybill", "pickle")


def rows(bench, sides):
    sides = {side: sides[side] for side in SIDES}
    for power in range(bench.count(7, quick=5) + 1):
        count = 10**power
        value = datasets.objects(count)
        point = {"objects": count}
        for verb in ("dumps", "loads"):
            calls = {
                side: (
                    getattr(peer, verb),
                    value if verb == "dumps" else peer.dumps(value),
                )
                for side, peer in sides.items()
            }
            best = timing.time_repeated(calls, bench.seconds)
            each = {side: seconds / count for side, seconds in best.items()}
            point[verb] = each
            plural = "object" if count == 1 else "objects"
            work = f"{format_count(count)} {plural}: {verb}, per object"
            bench.add(GROUP, work, "s", each)
        bench.curves["objects"].append(point)
