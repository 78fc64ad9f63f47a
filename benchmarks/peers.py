"""The serializers that are measured. Each is imported only when it is requested, since
the number of loaded modules affects the figures."""

import functools
import importlib
from collections.abc import Callable
from typing import NamedTuple

#: In the order of the tables' columns.
PEERS = ("cloudpickle", "pickle", "dill", "pyfory", "marshal")
#: msgpack only packs the arguments of prepared calls.
COLUMNS = (*PEERS, "msgpack")


class Peer(NamedTuple):
    dumps: Callable
    loads: Callable
    # dumps and loads with buffers out of band: object -> (bytes, buffers), and back.
    dumps_out_of_band: Callable | None = None
    loads_out_of_band: Callable | None = None


def make_pickle_peer(name, **options):
    """A peer whose module has the functions of pickle."""
    module = importlib.import_module(name)

    def dumps_out_of_band(value):
        buffers = []
        return module.dumps(value, buffer_callback=buffers.append, **options), buffers

    def loads_out_of_band(parts):
        data, buffers = parts
        return module.loads(data, buffers=buffers)

    dumps = functools.partial(module.dumps, **options) if options else module.dumps
    return Peer(dumps, module.loads, dumps_out_of_band, loads_out_of_band)


def make_pyfory_peer():
    """Uses the mode for Python objects, with limits above those of all cases."""
    module = importlib.import_module("pyfory")
    fory = module.Fory(
        xlang=False,
        ref=True,
        strict=False,
        max_graph_memory_bytes=1 << 40,
        max_unbacked_container_items=1 << 40,
    )

    def dumps_out_of_band(value):
        buffers = []
        data = fory.serialize(value, buffer_callback=buffers.append)
        return data, [buffer.getbuffer() for buffer in buffers]

    def loads_out_of_band(parts):
        data, buffers = parts
        return fory.deserialize(data, buffers=buffers)

    return Peer(fory.serialize, fory.deserialize, dumps_out_of_band, loads_out_of_band)


def make_marshal_peer():
    module = importlib.import_module("marshal")
    return Peer(module.dumps, module.loads)


_MAKERS = {
    "waybill": functools.partial(make_pickle_peer, "waybill"),
    "cloudpickle": functools.partial(make_pickle_peer, "cloudpickle"),
    "pickle": functools.partial(make_pickle_peer, "pickle", protocol=5),
    # Only with recurse does it send the globals that a function needs.
    "dill": functools.partial(make_pickle_peer, "dill", protocol=5, recurse=True),
    "pyfory": make_pyfory_peer,
    "marshal": make_marshal_peer,
}


def load(name):
    """Imports the peer of that name. Raises ImportError."""
    return _MAKERS[name]()


def load_installed(names):
    """{name: Peer} of the installed ones."""
    peers = {}
    for name in names:
        try:
            peers[name] = load(name)
        except ImportError:
            print(f"{name} is not installed: its column stays empty")
    return peers
