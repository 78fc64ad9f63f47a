"""Rows about functions: sent repeatedly, with many modules loaded, and in tasks."""

import marshal
import sys

import capability
import cases
import peers
import timing
from bench import format_count

GROUP = "functions"


def dumps_calls(sides, function):
    calls = {side: (peer.dumps, function) for side, peer in sides.items()}
    return calls | {"marshal": (marshal.dumps, function.__code__)}


def first_rows(bench):
    """Rows with few modules loaded; to be called before loading other peers."""
    sides = peers.load_installed(["waybill", "cloudpickle"])
    calls = dumps_calls(sides, cases.names_packages())
    add_row_with_modules(bench, calls, len(sys.modules))


def rows(bench, sides):
    name = "function, 3 modules"
    senders = capability.find_senders(sides, cases.CALLABLES[name], name)
    calls = dumps_calls(senders, cases.names_packages())
    for count in (1_000, 3_188, 10_000, 30_188, 100_000):
        add_row_with_modules(bench, calls, count)
    calls = dumps_calls(senders, cases.names_modules())
    bench.add_repeated(GROUP, "dumps, names 3 modules", calls)
    tasks(bench, sides)


def add_row_with_modules(bench, calls, count):
    with cases.modules_loaded(count):
        best = timing.time_repeated(calls, bench.seconds)
    bench.curves["modules"].append({"modules": count, **best})
    work = f"dumps, names 3 packages, {format_count(count)} loaded"
    bench.add(GROUP, work, "s", best)


def tasks(bench, sides):
    """Rows of many tasks, each in its own payload."""
    count = bench.count(10_000, quick=1_000)
    stream = cases.tasks(count)
    senders = capability.find_senders(sides, cases.TASK, "tasks")
    for verb in ("dumps", "loads"):
        inputs = {}
        for side, peer in senders.items():
            made = stream if verb == "dumps" else [peer.dumps(task) for task in stream]
            inputs[side] = (getattr(peer, verb), lambda made=made: made)
        best = timing.time_alternately(inputs, bench.seconds)
        whole = {side: seconds * count for side, seconds in best.items()}
        bench.add(GROUP, f"{format_count(count)} tasks, {verb} each", "s", whole)
