"""Measures serialization by Dask in every process of a cluster."""

import sys
import time

import distributed.protocol.pickle as dask_pickle


class Meter:
    """Calls, seconds and bytes of Dask's dumps and loads in this process."""

    def __init__(self):
        self.figures = dict.fromkeys(NAMES, 0)
        self._dumps, self._loads = dask_pickle.dumps, dask_pickle.loads
        _replace(self._dumps, self.dumps)
        dask_pickle.loads = self.loads

    def stop(self):
        _replace(self.dumps, self._dumps)
        dask_pickle.loads = self._loads
        return self.figures

    def dumps(self, x, *, buffer_callback=None, **options):
        buffers = []
        callback = None if buffer_callback is None else buffers.append
        start = time.perf_counter()
        data = self._dumps(x, buffer_callback=callback, **options)
        self.figures["packing"] += time.perf_counter() - start
        self.figures["packed"] += 1
        self.figures["bytes"] += len(data)
        for buffer in buffers:
            self.figures["bytes"] += memoryview(buffer).nbytes
            buffer_callback(buffer)
        return data

    def loads(self, x, *, buffers=()):
        start = time.perf_counter()
        value = self._loads(x, buffers=buffers)
        self.figures["unpacking"] += time.perf_counter() - start
        return value


#: Seconds of dumps and of loads, calls of dumps, bytes including out-of-band buffers.
NAMES = ("packing", "unpacking", "packed", "bytes")
_meters = []


def start():
    _meters.append(Meter())


def stop():
    return _meters.pop().stop()


def start_all(client):
    """Starts meters in the workers and here, where a LocalCluster has its scheduler."""
    client.run(start)
    start()


def stop_all(client):
    """The figures of this process, and the sums of those of the workers."""
    here = stop()
    workers = client.run(stop).values()
    return here, {name: sum(figures[name] for figures in workers) for name in NAMES}


def _replace(old, new):
    for name, module in list(sys.modules.items()):
        if name.startswith("distributed") and getattr(module, "dumps", None) == old:
            module.dumps = new
