"""Rows about each kind of callable, both ways, with its size."""

import functools
import gc
import marshal
import types

import able
import cases

GROUP = "callables"


def rows(bench, sides):
    for name, case in cases.CALLABLES.items():
        senders = able.that_send(sides, case, name)
        dumps_rows(bench, name, case, senders)
        loads_rows(bench, name, case, senders)
        new_code_rows(bench, name, case, senders)


def floor(value):
    """What marshal is given: the code of a function, and of nothing else."""
    return {"marshal": value.__code__} if hasattr(value, "__code__") else {}


def dumps_rows(bench, name, case, senders):
    value = case.make()
    calls = {side: (peer.dumps, value) for side, peer in senders.items()}
    calls |= {side: (marshal.dumps, code) for side, code in floor(value).items()}
    bench.repeated(GROUP, f"{name}: dumps", calls)
    payloads = {side: dumps(what) for side, (dumps, what) in calls.items()}
    bench.sizes(GROUP, f"{name}: size", payloads)


def loads_rows(bench, name, case, senders):
    """Of what the process does not have otherwise."""
    calls = {
        side: (peer.loads, peer.dumps(case.make())) for side, peer in senders.items()
    }
    if floor(case.make()):
        calls["marshal"] = (marshal.loads, marshal.dumps(case.make().__code__))
    gc.collect()
    if isinstance(case.make(), types.FunctionType):
        # Classes are cycles: the last one is there until the collector comes.
        bench.repeated(GROUP, f"{name}: loads, none held", calls)
    held = [loads(data) for loads, data in calls.values()]
    bench.repeated(GROUP, f"{name}: loads, one held", calls)
    del held


def new_code_rows(bench, name, case, senders):
    count = bench.count(100, quick=20)
    new = functools.partial(cases.never_seen, case.make, count)

    def new_floors():
        return [value.__code__ for value in new()]

    def payloads(dumps, make):
        made = [dumps(value) for value in make()]
        gc.collect()  # Classes, which are cycles.
        return made

    floors = {"marshal": new_floors} if floor(case.make()) else {}
    makers = {side: (peer, new) for side, peer in senders.items()}
    makers |= {side: (marshal, make) for side, make in floors.items()}
    dumps = {side: (peer.dumps, make) for side, (peer, make) in makers.items()}
    bench.in_turn(GROUP, f"{name}: dumps, new code", dumps)
    loads = {
        side: (peer.loads, functools.partial(payloads, peer.dumps, make))
        for side, (peer, make) in makers.items()
    }
    bench.in_turn(GROUP, f"{name}: loads, new code", loads)
