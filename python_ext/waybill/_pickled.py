"""Payloads inside pickles, which ``pickle.loads`` reads.

The stream is the pickle of an object that is reduced to a call of ``load`` or
``load_shared`` with the payload. docs/integrations.md specifies it. Tested by
tests/python/streams/test_pickled.py and test_shared_objects.py.
"""

from __future__ import annotations

import functools
import os
from _pickle import PickleBuffer
from _thread import allocate_lock
from collections import OrderedDict
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from waybill._core import dumps, loads, restrictions
from waybill._state.baselines import TABLE

if TYPE_CHECKING:
    from typing_extensions import Buffer

T = TypeVar("T")

#: Bounds of the cache of `load_shared`: objects, and bytes of their payloads.
MAX_SHARED, MAX_SHARED_BYTES = 256, 64 * 1024 * 1024


def load(payload: Buffer, buffers: Iterable[Buffer] | None = None) -> Any:
    """Called by pickles: ``loads``, under the options of ``restrict``."""
    return loads(payload) if buffers is None else loads(payload, buffers=buffers)


def load_or(
    payload: Buffer, instead: tuple[Any, ...], buffers: Iterable[Buffer] | None = None
) -> Any:
    """``load``; if it raises, ``instead[0](error, *instead[1:])``."""
    try:
        return load(payload, buffers)
    except (Exception, SystemExit) as error:  # A module may raise SystemExit.
        make, *values = instead
        return make(error, *values)


def load_shared(payload: bytes) -> Any:
    """``load`` once for each content: equal payloads give one object, as imports do."""
    return _shared.load(payload)


class SharedObjects:
    """A bounded LRU cache of objects by payload. Safe for use by several threads."""

    def __init__(self) -> None:
        # Each object with the generation of class state in which it was loaded.
        self._objects: OrderedDict[tuple[int, bytes], tuple[Any, int]] = OrderedDict()
        self._make_lock()

    def _make_lock(self) -> None:
        """Makes a new lock, also after a fork: another thread may have held it."""
        self._lock = allocate_lock()

    def load(self, payload: bytes) -> Any:
        # Earlier restrictions may have accepted a payload that the present ones refuse.
        key = restrictions(), payload
        with self._lock:
            cached = self._objects.get(key)
            if cached is not None:
                self._objects.move_to_end(key)
                if cached[1] == TABLE.generation:
                    return cached[0]
        # Another payload has set other class state since. Load again, so that the state
        # in this payload takes effect, but return the object that is cached.
        value = loads(payload)
        with self._lock:
            # Another thread may have loaded it first: use its object.
            value = self._objects.get(key, (value, 0))[0]
            self._objects[key] = value, TABLE.generation
            dropped = []
            while self._is_over_limit():
                dropped.append(self._objects.popitem(last=False))
        # Outside of the lock: finalizers of dropped objects may call load.
        del dropped
        return value

    def clear(self) -> None:
        """Removes all objects from the cache."""
        with self._lock:
            self._objects.clear()

    def _is_over_limit(self) -> bool:
        size = sum(len(payload) for _, payload in self._objects)
        return len(self._objects) > MAX_SHARED or size > MAX_SHARED_BYTES


def __getattr__(name: str) -> Any:
    """Raises an error about versions for a function that pickles of another version may
    call. Other names raise AttributeError: some programs probe modules for names."""
    if not name.startswith("load_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from waybill import __version__
    from waybill._api.errors import refusal

    raise refusal(
        "unknown_format",
        f"no {name} in {__name__}: another version of waybill wrote it, and this is "
        f"waybill {__version__}; install the same version on both sides",
        0,
    )


_shared = SharedObjects()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shared._make_lock)


class pickled(Generic[T]):
    """One object, wrapped so that any pickle sends it by waybill.

    >>> import pickle
    >>> add = pickled(lambda x, y: x + y)
    >>> add(1, 2)
    3
    >>> pickle.loads(pickle.dumps(add))(3, 4)
    7

    A receiver gets the object itself. It is encoded here, once: this raises what
    ``dumps`` raises, takes its options, and later changes of the object do not travel.
    A function or class is one object in each receiving process, however often it is
    sent, as if it were imported; other objects are new each time, and so are functions
    that refer to arrays or other buffers. Buffers are not copied: the pickle takes them
    out of band if it can.
    """

    def __init__(self, obj: T, **options: Any) -> None:
        buffers: list[PickleBuffer] = []
        self.__wrapped__ = obj
        self._payload = dumps(obj, buffer_callback=buffers.append, **options)
        self._buffers = tuple(buffers)
        if callable(obj):
            functools.update_wrapper(self, obj, updated=())

    def __call__(self: pickled[Callable[..., Any]], *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    def __repr__(self) -> str:
        return f"waybill.pickled({self.__wrapped__!r})"

    def __reduce_ex__(self, protocol: Any) -> tuple[Callable[..., Any], Any]:
        if self._buffers:
            buffers: tuple[Any, ...] = self._buffers
            if protocol < 5:
                buffers = tuple(buffer.raw().tobytes() for buffer in buffers)
            return load, (self._payload, buffers)
        is_shared = isinstance(self.__wrapped__, (FunctionType, type))
        return (load_shared if is_shared else load), (self._payload,)

    def __dask_tokenize__(self) -> tuple[str, bytes]:
        """Equal content has an equal token in Dask."""
        return "waybill.pickled", self._payload
