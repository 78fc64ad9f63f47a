"""Rows about plain data and arrays."""

import able
import datasets

GROUP = "data"
MEGABYTE = 1_000_000


def rows(bench, sides):
    for name, make in datasets.DATA.items():
        data_rows(bench, name, make(), sides)
    try:
        import numpy
    except ImportError:
        print("numpy is not installed: no arrays")
        return
    megabytes = bench.count(100, quick=10)
    array = numpy.ones(megabytes * MEGABYTE // 8)
    data_rows(bench, f"{megabytes} MB array", array, sides)
    apart_rows(bench, f"{megabytes} MB array out of band", array, sides)


def data_rows(bench, name, value, sides):
    carriers = able.that_carry(sides, value, name)
    calls = {side: (peer.dumps, value) for side, peer in carriers.items()}
    bench.repeated(GROUP, f"{name}: dumps", calls)
    payloads = {side: peer.dumps(value) for side, peer in carriers.items()}
    calls = {side: (peer.loads, payloads[side]) for side, peer in carriers.items()}
    bench.repeated(GROUP, f"{name}: loads", calls)
    bench.sizes(GROUP, f"{name}: size", payloads)


def apart_rows(bench, name, value, sides):
    carriers = {
        side: peer for side, peer in sides.items() if carries_apart(peer, value)
    }
    able.demand_waybill(carriers, name)
    calls = {side: (peer.dumps_apart, value) for side, peer in carriers.items()}
    bench.repeated(GROUP, f"{name}: dumps", calls)
    calls = {
        side: (peer.loads_apart, peer.dumps_apart(value))
        for side, peer in carriers.items()
    }
    bench.repeated(GROUP, f"{name}: loads", calls)


def carries_apart(peer, value):
    """Whether it comes back right, and its content really stays out of the payload."""
    if peer.dumps_apart is None:
        return False
    if not able.round_trips(peer.dumps_apart, peer.loads_apart, value):
        return False
    data, buffers = peer.dumps_apart(value)
    return bool(buffers) and len(data) < value.nbytes / 2
