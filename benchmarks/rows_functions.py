"""Rows about functions: sent again and again, among many modules, and in tasks."""

import marshal
import sys

import able
import cases
import peers
import timing
from bench import number

GROUP = "functions"


def dumps_calls(sides, function):
    calls = {side: (peer.dumps, function) for side, peer in sides.items()}
    return calls | {"marshal": (marshal.dumps, function.__code__)}


def early(bench):
    """With few modules loaded: before the peers that load many."""
    sides = peers.installed(["waybill", "cloudpickle"])
    calls = dumps_calls(sides, cases.names_packages())
    among_modules(bench, calls, len(sys.modules))


def late(bench, sides):
    name = "function, 3 modules"
    senders = able.that_send(sides, cases.CALLABLES[name], name)
    calls = dumps_calls(senders, cases.names_packages())
    for count in (1_000, 3_188, 10_000, 30_188, 100_000):
        among_modules(bench, calls, count)
    calls = dumps_calls(senders, cases.names_modules())
    bench.repeated(GROUP, "dumps, names 3 modules", calls)
    tasks(bench, sides)


def among_modules(bench, calls, count):
    with cases.modules_loaded(count):
        best = timing.repeated(calls, bench.seconds)
    bench.curves["modules"].append({"modules": count, **best})
    bench.add(GROUP, f"dumps, names 3 packages, {number(count)} loaded", "s", best)


def tasks(bench, sides):
    """All of the tasks in a row, each a payload of its own."""
    count = bench.count(10_000, quick=1_000)
    stream = cases.tasks(count)
    senders = able.that_send(sides, cases.TASK, "tasks")
    for verb in ("dumps", "loads"):
        inputs = {}
        for side, peer in senders.items():
            made = stream if verb == "dumps" else [peer.dumps(task) for task in stream]
            inputs[side] = (getattr(peer, verb), lambda made=made: made)
        best = timing.in_turn(inputs, bench.seconds)
        whole = {side: seconds * count for side, seconds in best.items()}
        bench.add(GROUP, f"{number(count)} tasks, {verb} each", "s", whole)
