"""Payloads inside pickles: what loads with ``pickle.loads`` takes them as they are.

The stream is what pickle would write for an object that is reduced to a call of
``load`` or ``load_shared`` with the payload. Its form is in docs/integrations.md.
Tested by tests/python/streams/test_pickled.py and test_shared_objects.py.
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

#: How many objects `load_shared` keeps, and how many bytes of their payloads.
MAX_SHARED, MAX_SHARED_BYTES = 256, 64 * 1024 * 1024


def load(payload: Buffer, buffers: Iterable[Buffer] | None = None) -> Any:
    """What pickles call: ``loads``, under the options that ``restrict`` set."""
    return loads(payload) if buffers is None else loads(payload, buffers=buffers)


def load_or(
    payload: Buffer, instead: tuple[Any, ...], buffers: Iterable[Buffer] | None = None
) -> Any:
    """``load``, or what a function makes of the error and some values of its own."""
    try:
        return load(payload, buffers)
    except (Exception, SystemExit) as error:  # A module may raise the second.
        make, *values = instead
        return make(error, *values)


def load_shared(payload: bytes) -> Any:
    """``load`` once for each content: what equal payloads hold is one object here, as
    what is imported from a module is."""
    return _shared.load(payload)


class SharedObjects:
    """Objects by the bytes they came in, those used last. For any number of threads."""

    def __init__(self) -> None:
        # Each with the generation of class state that it was loaded in.
        self._objects: OrderedDict[tuple[int, bytes], tuple[Any, int]] = OrderedDict()
        self._make_lock()

    def _make_lock(self) -> None:
        """A new one for forked processes: who held the old one is not in them."""
        self._lock = allocate_lock()

    def load(self, payload: bytes) -> Any:
        # What was accepted under earlier options has to be asked about again.
        key = restrictions(), payload
        with self._lock:
            known = self._objects.get(key)
            if known is not None:
                self._objects.move_to_end(key)
                if known[1] == TABLE.generation:
                    return known[0]
        # Another payload has said something else of a class since: then the object is
        # the one that it was, but what this payload says of classes counts again.
        value = loads(payload)
        with self._lock:
            # Another thread may have been first; then its object is the one.
            value = self._objects.get(key, (value, 0))[0]
            self._objects[key] = value, TABLE.generation
            dropped = []
            while self._is_beyond_its_bounds():
                dropped.append(self._objects.popitem(last=False))
        # Without the lock: what goes may run code of its own, which may load something.
        del dropped
        return value

    def clear(self) -> None:
        """Forgets all; what is in use stays."""
        with self._lock:
            self._objects.clear()

    def _is_beyond_its_bounds(self) -> bool:
        size = sum(len(payload) for _, payload in self._objects)
        return len(self._objects) > MAX_SHARED or size > MAX_SHARED_BYTES


def __getattr__(name: str) -> Any:
    """What pickles of another version may name, which all begin so. Others are told as
    ever: there are programs that ask all modules for some name."""
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

    What arrives is the object itself. It is packed here and now, once: it raises what
    ``dumps`` raises, takes its options, and later changes of the object do not travel.
    Functions and classes are one object in each process they arrive in, however often
    they are sent, as if they had been imported there; other objects are new ones each
    time, and so are functions that hold arrays or other buffers. These are not copied:
    the pickle takes them out of band if it can.
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
        """Equal content is equal to Dask."""
        return "waybill.pickled", self._payload
