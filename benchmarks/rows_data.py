"""Rows about plain data and arrays."""

import capability
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
    out_of_band_rows(bench, f"{megabytes} MB array out of band", array, sides)


def data_rows(bench, name, value, sides):
    carriers = capability.find_carriers(sides, value, name)
    calls = {side: (peer.dumps, value) for side, peer in carriers.items()}
    bench.add_repeated(GROUP, f"{name}: dumps", calls)
    payloads = {side: peer.dumps(value) for side, peer in carriers.items()}
    calls = {side: (peer.loads, payloads[side]) for side, peer in carriers.items()}
    bench.add_repeated(GROUP, f"{name}: loads", calls)
    bench.add_sizes(GROUP, f"{name}: size", payloads)


def out_of_band_rows(bench, name, value, sides):
    carriers = {
        side: peer for side, peer in sides.items() if carries_out_of_band(peer, value)
    }
    capability.require_waybill(carriers, name)
    calls = {side: (peer.dumps_out_of_band, value) for side, peer in carriers.items()}
    bench.add_repeated(GROUP, f"{name}: dumps", calls)
    calls = {
        side: (peer.loads_out_of_band, peer.dumps_out_of_band(value))
        for side, peer in carriers.items()
    }
    bench.add_repeated(GROUP, f"{name}: loads", calls)


def carries_out_of_band(peer, value):
    """Whether the round trip works, and the content is not in the payload."""
    dumps, loads = peer.dumps_out_of_band, peer.loads_out_of_band
    if dumps is None or not capability.round_trips(dumps, loads, value):
        return False
    data, buffers = dumps(value)
    return bool(buffers) and len(data) < value.nbytes / 2
