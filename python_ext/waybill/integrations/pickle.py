"""Drop-ins for the functions and the Pickler of pickle, to write with.

For engines that ask for a module to pickle with, or for a Pickler class. What is
written is a pickle, which ``pickle.loads`` reads wherever waybill is installed.
Tested by tests/python/test_pickled.py.
"""

from __future__ import annotations

import copyreg
import functools
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pickle import (
    DEFAULT_PROTOCOL,
    HIGHEST_PROTOCOL,
    PickleBuffer,
    PickleError,
    PicklingError,
    Unpickler,
    UnpicklingError,
    load,
    loads,
)
from typing import Any, BinaryIO

from waybill import _core
from waybill._errors import EncodeError
from waybill._face import dumps_with
from waybill._files import write_all
from waybill._modules import names_by_value
from waybill._pickled import pickled
from waybill._pickler import demand_protocol
from waybill._policies import Policies
from waybill._signatures import handle_of_key

__all__ = [
    "DEFAULT_PROTOCOL",
    "HIGHEST_PROTOCOL",
    "PickleBuffer",
    "PickleError",
    "Pickler",
    "PicklingError",
    "Unpickler",
    "UnpicklingError",
    "configure",
    "dump",
    "dumps",
    "load",
    "loads",
    "options",
    "payload",
    "pickled",
]

#: cloudpickle, and the copies within engines.
_CLOUDPICKLES = "cloudpickle", "ray.cloudpickle", "pyspark.cloudpickle"

#: Bytes of a payload from which on a Pickler writes it by itself, as pickle does.
_LARGE = 64 * 1024

#: What configure() was given.
_options: dict[str, Any] = {}


def configure(**options: Any) -> None:
    """What all integrations pickle with from now on: ``by_value``, ``policies`` and
    ``key``, as for ``waybill.dumps``. Those not given are as if never given.

    Only for this process. Raises TypeError or ValueError for what dumps() refuses.
    """
    unknown = options.keys() - {"by_value", "policies", "key"}
    if unknown:
        raise TypeError(f"configure() takes no {', '.join(sorted(unknown))}")
    if "by_value" in options:
        options["by_value"] = tuple(options["by_value"])
    dumps_with(None, **options)
    global _options
    _options = options


def options() -> dict[str, Any]:
    """What ``waybill.dumps`` is given here: the options of configure(), and the modules
    that the program has registered with a cloudpickle to go by value."""
    registered = [name for name in _registered() if name in sys.modules]
    if not registered:
        return _options
    return {**_options, "by_value": [*_options.get("by_value", ()), *registered]}


def payload(obj: object) -> bytes:
    """``waybill.dumps`` with options(), for engines that load with waybill."""
    chosen = options()
    return dumps_with(obj, **chosen) if chosen else _core.dumps(obj)


def _registered() -> Iterator[str]:
    for name in _CLOUDPICKLES:
        module = sys.modules.get(name)
        listed: set[str] = getattr(module, "list_registry_pickle_by_value", set)()
        yield from listed


def dumps(
    obj: object,
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: Callable[[PickleBuffer], object] | None = None,
) -> bytes:
    """A pickle that holds a payload of ``obj``; raises EncodeError if there is none.

    ``protocol`` is taken for the sake of code that was written for pickle; protocol 5
    is what is written.
    """
    demand_protocol(protocol, buffer_callback)
    if buffer_callback is None and not options():
        try:
            return stream(_core.dumps(obj))
        except EncodeError as error:
            if not _hangs_on_a_cause(error):
                raise
    return dumps_with_hooks(obj, None, None, buffer_callback)


def dump(
    obj: object,
    file: BinaryIO,
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: Callable[[PickleBuffer], object] | None = None,
) -> None:
    """``dumps`` to a file."""
    write_all(file.write, dumps(obj, protocol, buffer_callback=buffer_callback))


class Pickler:
    """Writes objects to a file as pickles, each of which stands by itself.

    To be subclassed as ``pickle.Pickler`` is: with ``reducer_override(obj)`` and a
    ``dispatch_table``, on the class or on the instance, which go before what waybill
    does by itself. Persistent ids are for ``waybill.Pickler``: nothing here would load
    them.
    """

    dispatch_table: Mapping[type, Callable[[Any], Any]]

    def __init__(
        self,
        file: BinaryIO,
        protocol: int | None = None,
        fix_imports: bool = True,
        buffer_callback: Callable[[PickleBuffer], object] | None = None,
    ) -> None:
        try:
            self._write = file.write
        except AttributeError:
            raise TypeError("file must have a 'write' attribute") from None
        demand_protocol(protocol, buffer_callback)
        self._buffer_callback = buffer_callback

    def dump(self, obj: object) -> None:
        """Writes one object. Raises EncodeError; then nothing was written."""
        if hasattr(self, "persistent_id"):
            raise TypeError("persistent ids are for waybill.Pickler and its Unpickler")
        parts = _parts_with_hooks(
            obj,
            getattr(self, "reducer_override", None),
            getattr(self, "dispatch_table", None),
            self._buffer_callback,
        )
        # What is large is not copied to be in one piece; what is small is written once.
        if len(parts[1]) < _LARGE:
            parts = (b"".join(parts),)
        for part in parts:
            write_all(self._write, part)

    def clear_memo(self) -> None:
        """Does nothing: no pickle refers to an earlier one."""


def dumps_with_hooks(
    obj: object,
    reducer_override: Callable[[Any], Any] | None,
    dispatch_table: Mapping[type, Callable[[Any], Any]] | None,
    buffer_callback: Callable[[PickleBuffer], object] | None,
) -> bytes:
    """``dumps`` with the hooks of a Pickler."""
    parts = _parts_with_hooks(obj, reducer_override, dispatch_table, buffer_callback)
    return b"".join(parts)


def _parts_with_hooks(
    obj: object,
    reducer_override: Callable[[Any], Any] | None,
    dispatch_table: Mapping[type, Callable[[Any], Any]] | None,
    buffer_callback: Callable[[PickleBuffer], object] | None,
) -> tuple[bytes, ...]:
    """The parts of the pickle.

    Exceptions go with their causes and contexts, unless those cannot travel: pickle
    leaves them out always, and a worker has to be able to say what was raised.
    """
    kept = OutOfBand(buffer_callback)
    chosen = options()
    policies, key = chosen.get("policies"), chosen.get("key")

    def encode(override: Callable[[Any], Any] | None) -> bytes:
        return _core.encode(
            obj,
            None,
            override,
            dispatch_table,
            kept.take,
            names_by_value(chosen.get("by_value", ())),
            None if policies is None else Policies(policies),
            None,
            0,
            None if key is None else handle_of_key(key),
            b"",
        )

    try:
        payload = encode(reducer_override)
    except EncodeError as error:
        # The callback cannot be told to give back what it has kept.
        if kept.read_only or not _hangs_on_a_cause(error, dispatch_table or ()):
            raise
        payload = encode(_without_causes(reducer_override, dispatch_table))
    return _parts(payload, kept)


def _hangs_on_a_cause(error: EncodeError, registered: Iterable[type] = ()) -> bool:
    # Who has registered reducers of exceptions may send causes by any path.
    is_registered = any(issubclass(kind, BaseException) for kind in registered)
    return is_registered or "__cause__" in error.path or "__context__" in error.path


def _without_causes(
    reducer_override: Callable[[Any], Any] | None,
    dispatch_table: Mapping[type, Callable[[Any], Any]] | None,
) -> Callable[[Any], Any]:
    """A reducer_override that goes on to exceptions, unless somebody registered them.

    tblib, which Dask installs, does not count: it registers all, with their causes.
    """
    from waybill._kinds import errors

    reduce: Callable[[Any], Any] = errors.reduce_without_causes
    table = copyreg.dispatch_table if dispatch_table is None else dispatch_table
    registered = {kind for kind, reducer in table.items() if not _is_of_tblib(reducer)}

    def override(obj: Any) -> Any:
        reduced = reducer_override(obj) if reducer_override else NotImplemented
        if reduced is not NotImplemented or not isinstance(obj, BaseException):
            return reduced
        return NotImplemented if type(obj) in registered else reduce(obj)

    return override


def _is_of_tblib(reducer: Callable[[Any], Any]) -> bool:
    # Those for exceptions are partial.
    module = getattr(getattr(reducer, "func", reducer), "__module__", None)
    return isinstance(module, str) and module.startswith("tblib.")


class OutOfBand:
    """Counts what a ``buffer_callback`` keeps, for the pickle to ask for it."""

    def __init__(self, callback: Callable[[PickleBuffer], object] | None) -> None:
        self._callback = callback
        #: For each buffer kept, whether it is read-only.
        self.read_only: list[bool] = []

    @property
    def take(self) -> Callable[[PickleBuffer], object] | None:
        """What ``waybill.dumps`` is given."""
        return None if self._callback is None else self._take

    def _take(self, buffer: PickleBuffer) -> object:
        assert self._callback is not None
        in_band = self._callback(buffer)
        if not in_band:
            with buffer.raw() as view:
                self.read_only.append(view.readonly)
        return in_band


# Opcodes of pickle, as the standard library's pickletools documents them: protocol 5,
# then `waybill._pickled.load` as a global.
_PROTOCOL = b"\x80\x05"
_START = _PROTOCOL + b"\x8c\x10waybill._pickled\x8c\x04load\x93"
_NEXT_BUFFER, _READONLY_BUFFER = b"\x97", b"\x98"
# Tuples of one and of two, the call, the end.
_CALL_WITH_ONE, _CALL_WITH_TWO = b"\x85R.", b"\x86R."


def calling_first(module: str, function: str, data: bytes) -> bytes:
    """The pickle ``data``, and before it a call without arguments, whose answer is
    dropped: how an engine's workers get to know of waybill."""
    return _call(module, function) + data[len(_PROTOCOL) :]


@functools.cache
def _call(module: str, function: str) -> bytes:
    names = (name.encode("ascii") for name in (module, function))
    pushed = (b"\x8c" + struct.pack("<B", len(name)) + name for name in names)
    return b"".join((_PROTOCOL, *pushed, b"\x93)R0"))


def stream(payload: bytes, kept: OutOfBand | None = None) -> bytes:
    """The pickle of a payload."""
    return b"".join(_parts(payload, kept))


def _parts(payload: bytes, kept: OutOfBand | None) -> tuple[bytes, bytes, bytes]:
    """What comes before the payload, the payload, and what comes after it."""
    size = len(payload)
    if size < 1 << 8:
        start = _START + b"C" + struct.pack("<B", size)
    elif size < 1 << 32:
        start = _START + b"B" + struct.pack("<I", size)
    else:
        start = _START + b"\x8e" + struct.pack("<Q", size)
    if kept is None or not kept.read_only:
        return start, payload, _CALL_WITH_ONE
    marks = (_NEXT_BUFFER + _READONLY_BUFFER * is_set for is_set in kept.read_only)
    return start, payload, b"".join((b"(", *marks, b"t", _CALL_WITH_TWO))
