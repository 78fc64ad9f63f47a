"""Rows about each kind of callable: dumps, loads and size."""

import functools
import gc
import marshal
import types

import capability
import cases

GROUP = "callables"


def rows(bench, sides):
    for name, case in cases.CALLABLES.items():
        senders = capability.find_senders(sides, case, name)
        dumps_rows(bench, name, case, senders)
        loads_rows(bench, name, case, senders)
        new_code_rows(bench, name, case, senders)


def code_of(value):
    """The code of a function, for marshal; None for other objects."""
    return getattr(value, "__code__", None)


def dumps_rows(bench, name, case, senders):
    value = case.make()
    calls = {side: (peer.dumps, value) for side, peer in senders.items()}
    if code_of(value):
        calls["marshal"] = (marshal.dumps, code_of(value))
    bench.add_repeated(GROUP, f"{name}: dumps", calls)
    payloads = {side: dumps(given) for side, (dumps, given) in calls.items()}
    bench.add_sizes(GROUP, f"{name}: size", payloads)


def loads_rows(bench, name, case, senders):
    """loads of objects that the process has not built before."""
    calls = {
        side: (peer.loads, peer.dumps(case.make())) for side, peer in senders.items()
    }
    if code_of(case.make()):
        calls["marshal"] = (marshal.loads, marshal.dumps(case.make().__code__))
    gc.collect()
    if isinstance(case.make(), types.FunctionType):
        # Not for classes: as cycles, they live until the collector runs.
        bench.add_repeated(GROUP, f"{name}: loads, none held", calls)
    held = [loads(data) for loads, data in calls.values()]
    bench.add_repeated(GROUP, f"{name}: loads, one held", calls)
    del held


def new_code_rows(bench, name, case, senders):
    count = bench.count(100, quick=20)
    new = functools.partial(cases.make_unseen, case.make, count)

    def new_codes():
        return [value.__code__ for value in new()]

    def payloads(dumps, make):
        made = [dumps(value) for value in make()]
        gc.collect()  # Frees the classes, which are cycles.
        return made

    makers = {side: (peer, new) for side, peer in senders.items()}
    if code_of(case.make()):
        makers["marshal"] = (marshal, new_codes)
    dumps = {side: (peer.dumps, make) for side, (peer, make) in makers.items()}
    bench.add_alternating(GROUP, f"{name}: dumps, new code", dumps)
    loads = {
        side: (peer.loads, functools.partial(payloads, peer.dumps, make))
        for side, (peer, make) in makers.items()
    }
    bench.add_alternating(GROUP, f"{name}: loads, new code", loads)
