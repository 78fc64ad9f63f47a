"""The serializers that are measured. Each is imported only when it is asked for: what
is loaded is part of what is measured."""

import functools
import importlib
from collections.abc import Callable
from typing import NamedTuple

#: In the order of the tables' columns.
PEERS = ("cloudpickle", "pickle", "dill", "pyfory", "marshal")
#: msgpack packs the arguments of prepared calls, and nothing else.
COLUMNS = (*PEERS, "msgpack")


class Peer(NamedTuple):
    dumps: Callable
    loads: Callable
    # The same with buffers out of band: object -> (bytes, buffers), and back.
    dumps_apart: Callable | None = None
    loads_apart: Callable | None = None


def like_pickle(name, **options):
    """A module with pickle's functions."""
    module = importlib.import_module(name)

    def dumps_apart(value):
        buffers = []
        return module.dumps(value, buffer_callback=buffers.append, **options), buffers

    def loads_apart(parts):
        data, buffers = parts
        return module.loads(data, buffers=buffers)

    dumps = functools.partial(module.dumps, **options) if options else module.dumps
    return Peer(dumps, module.loads, dumps_apart, loads_apart)


def pyfory():
    """In the mode that carries what pickle does, with ceilings that stop no case."""
    module = importlib.import_module("pyfory")
    fory = module.Fory(
        xlang=False,
        ref=True,
        strict=False,
        max_graph_memory_bytes=1 << 40,
        max_unbacked_container_items=1 << 40,
    )

    def dumps_apart(value):
        buffers = []
        data = fory.serialize(value, buffer_callback=buffers.append)
        return data, [buffer.getbuffer() for buffer in buffers]

    def loads_apart(parts):
        data, buffers = parts
        return fory.deserialize(data, buffers=buffers)

    return Peer(fory.serialize, fory.deserialize, dumps_apart, loads_apart)


def marshal():
    module = importlib.import_module("marshal")
    return Peer(module.dumps, module.loads)


_MAKERS = {
    "waybill": functools.partial(like_pickle, "waybill"),
    "cloudpickle": functools.partial(like_pickle, "cloudpickle"),
    "pickle": functools.partial(like_pickle, "pickle", protocol=5),
    # Without recurse it does not send the globals that a function needs.
    "dill": functools.partial(like_pickle, "dill", protocol=5, recurse=True),
    "pyfory": pyfory,
    "marshal": marshal,
}


def load(name):
    """The peer of that name. Raises ImportError."""
    return _MAKERS[name]()


def installed(names):
    """{name: Peer} of those that are there."""
    peers = {}
    for name in names:
        try:
            peers[name] = load(name)
        except ImportError:
            print(f"{name} is not installed: its column stays empty")
    return peers
