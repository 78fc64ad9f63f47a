"""Replacements for pickle's functions and Pickler that write payloads.

For engines that take a module with the interface of pickle, or a Pickler class. The
output is a pickle, which ``pickle.loads`` reads if waybill is installed. Tested by
tests/python/streams/test_pickled.py.
"""

from __future__ import annotations

import copyreg
import functools
import pickle as standard
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
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
from waybill._api.configuration import option_value
from waybill._api.errors import EncodeError
from waybill._api.functions import (
    check_protocol,
    dumps_with,
    resolve_encode_options,
    warn_of_size,
)
from waybill._modules.by_value import with_registered
from waybill._pickled import pickled
from waybill._streams.files import write_all
from waybill.integrations._failures import Fallback, fallback_of

__all__ = [
    "DEFAULT_PROTOCOL",
    "HIGHEST_PROTOCOL",
    "PickleBuffer",
    "PickleError",
    "Pickler",
    "PicklingError",
    "Unpickler",
    "UnpicklingError",
    "dump",
    "dumps",
    "load",
    "loads",
    "options",
    "payload",
    "pickled",
]

#: cloudpickle, and its copies in engines.
_CLOUDPICKLES = "cloudpickle", "ray.cloudpickle", "pyspark.cloudpickle"

#: A call at the start of a pickle: a function of a module, and a plain argument.
FirstCall = tuple[Callable[[Any], object], object]

Reducer = Callable[[Any], Any]
Reducers = Mapping[type, Reducer]
BufferCallback = Callable[[PickleBuffer], object]

#: A Pickler writes a payload of this size in a call of its own, as pickle does.
_LARGE = 64 * 1024


def options() -> dict[str, Any]:
    """Options for ``waybill.dumps`` beside those of ``configure``: ``by_value``, with
    the modules that the program has registered with a cloudpickle."""
    registered = _registered_modules()
    if not registered:
        return {}
    names = *(option_value("by_value") or ()), *registered
    return {"by_value": [sys.modules.get(name, name) for name in names]}


def modules_by_value() -> set[str] | None:
    """A new set of the modules that travel by value; None if there are none."""
    return with_registered([*(option_value("by_value") or ()), *_registered_modules()])


def _registered_modules() -> list[str]:
    found: list[str] = []
    for name in _CLOUDPICKLES:
        module = sys.modules.get(name)
        if module is not None:
            list_names = getattr(module, "list_registry_pickle_by_value", set)
            found += [listed for listed in list_names() if listed in sys.modules]
    return found


def payload(obj: object) -> bytes:
    """``waybill.dumps`` with options(), for engines that load with waybill."""
    given = options()
    return dumps_with(obj, **given) if given else _core.dumps(obj)


def dumps(
    obj: object,
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: BufferCallback | None = None,
) -> bytes:
    """A pickle with a payload of ``obj``. Raises EncodeError if it cannot be sent.

    ``protocol`` is accepted for compatibility with pickle; the output has protocol 5.
    """
    check_protocol(protocol, buffer_callback)
    return dumps_with_fallback(obj, fallback_of(obj), buffer_callback)


def dumps_with_fallback(
    obj: object, fallback: Fallback | None, buffer_callback: BufferCallback | None
) -> bytes:
    """``dumps`` with a fallback for a receiver that cannot load the object."""
    if buffer_callback is None and not options():
        try:
            return b"".join(_parts(_core.dumps(obj), [], fallback))
        except EncodeError as error:
            if not _is_in_cause(error):
                raise
    return b"".join(_parts_with_hooks(obj, None, None, buffer_callback, fallback))


def dump(
    obj: object,
    file: BinaryIO,
    protocol: int | None = None,
    *,
    fix_imports: bool = True,
    buffer_callback: BufferCallback | None = None,
) -> None:
    """``dumps`` to a file."""
    write_all(file.write, dumps(obj, protocol, buffer_callback=buffer_callback))


def dump_by(dumps: Callable[..., bytes]) -> Callable[..., None]:
    """cloudpickle's ``dump`` for a replacement of its ``dumps``."""

    def dump(obj: object, file: BinaryIO, *args: Any, **kwargs: Any) -> None:
        write_all(file.write, dumps(obj, *args, **kwargs))

    return dump


class Pickler:
    """Writes objects to a file, each as a pickle of its own.

    Subclass it like ``pickle.Pickler``: ``reducer_override(obj)`` and a
    ``dispatch_table``, on the class or on the instance, precede waybill's own reducers.
    Persistent ids are for ``waybill.Pickler``: no loader here would resolve them.
    """

    dispatch_table: Reducers

    def __init__(
        self,
        file: BinaryIO,
        protocol: int | None = None,
        fix_imports: bool = True,
        buffer_callback: BufferCallback | None = None,
    ) -> None:
        try:
            self._write = file.write
        except AttributeError:
            raise TypeError("file must have a 'write' attribute") from None
        check_protocol(protocol, buffer_callback)
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
            self.fallback_of(obj),
        )
        if (first := self.first_call()) is not None:
            parts = prepend_call(first, parts[0]), *parts[1:]
        # Large parts are not copied into one; small ones are written in one call.
        if len(parts[1]) < _LARGE:
            parts = (b"".join(parts),)
        for part in parts:
            write_all(self._write, part)

    def fallback_of(self, obj: Any) -> Fallback | None:
        """The fallback for a receiver that cannot load an object."""
        return fallback_of(obj)

    def first_call(self) -> FirstCall | None:
        """The call that a receiver makes before it loads the object."""
        return None

    def clear_memo(self) -> None:
        """Does nothing: each pickle is independent."""


def dumps_with_hooks(
    obj: object, dispatch_table: Reducers | None, buffer_callback: BufferCallback | None
) -> bytes:
    """``dumps`` with reducers of an engine."""
    return b"".join(_parts_with_hooks(obj, None, dispatch_table, buffer_callback))


def _parts_with_hooks(
    obj: object,
    reducer_override: Reducer | None,
    dispatch_table: Reducers | None,
    buffer_callback: BufferCallback | None,
    fallback: Fallback | None = None,
) -> tuple[bytes, ...]:
    """The parts of the pickle.

    Exceptions are sent with their causes and contexts, unless these cannot be sent:
    pickle always leaves them out, and a worker has to be able to report any exception.
    """
    read_only: list[bool] = []
    take = None if buffer_callback is None else _recording(buffer_callback, read_only)

    def encode(override: Reducer | None) -> bytes:
        return _core.encode(obj, _options_with_hooks(override, dispatch_table, take))

    try:
        payload = encode(reducer_override)
    except EncodeError as error:
        # Buffers that the callback got cannot be taken back.
        if read_only or not _is_in_cause(error, dispatch_table or ()):
            raise
        payload = encode(_without_causes(reducer_override, dispatch_table))
    limit = option_value("warn_above")
    if limit and len(payload) > limit:
        warn_of_large(payload, obj, dispatch_table, buffer_callback)
    return _parts(payload, read_only, fallback)


def _options_with_hooks(
    reducer_override: Reducer | None,
    dispatch_table: Reducers | None,
    buffer_callback: BufferCallback | None,
) -> dict[str, Any]:
    """The options of ``encode``."""
    return {
        **resolve_encode_options(buffer_callback=buffer_callback),
        "reducer_override": reducer_override,
        "dispatch_table": dispatch_table,
        "by_value": modules_by_value(),
    }


def warn_of_large(
    payload: bytes,
    obj: object,
    dispatch_table: Reducers | None,
    buffer_callback: BufferCallback | None,
) -> None:
    """Warns that an object of an engine's message is large.

    Does not call the engine's reducers again: some count their calls, or write files.
    Objects with such a reducer count as small, except methods and partial calls, which
    refer to objects of the program.
    """
    small = {
        kind: _reduce_to_empty
        for kind in (dispatch_table or {}).keys() - copyreg.dispatch_table.keys()
        if kind.__module__ not in ("builtins", "functools")
    }
    table = {**copyreg.dispatch_table, **small}
    options = _options_with_hooks(None, table, buffer_callback)
    warn_of_size(len(payload), obj, options)


def _reduce_to_empty(obj: object) -> Any:
    return str, ()


def _is_in_cause(error: EncodeError, registered: Iterable[type] = ()) -> bool:
    # A program's own reducers of exceptions may send causes by any path.
    is_registered = any(issubclass(kind, BaseException) for kind in registered)
    return is_registered or "__cause__" in error.path or "__context__" in error.path


def _without_causes(
    reducer_override: Reducer | None, dispatch_table: Reducers | None
) -> Reducer:
    """A reducer_override that also sends exceptions without cause and context, unless
    the program registered their types.

    Reducers of tblib, which Dask installs, do not count: it registers all types, with
    their causes.
    """
    from waybill._kinds import errors

    reduce: Reducer = errors.reduce_without_causes
    table = copyreg.dispatch_table if dispatch_table is None else dispatch_table
    registered = {kind for kind, reducer in table.items() if not _is_of_tblib(reducer)}

    def override(obj: Any) -> Any:
        reduced = reducer_override(obj) if reducer_override else NotImplemented
        if reduced is not NotImplemented or not isinstance(obj, BaseException):
            return reduced
        return NotImplemented if type(obj) in registered else reduce(obj)

    return override


def _is_of_tblib(reducer: Reducer) -> bool:
    # Reducers of exceptions by tblib are functools.partial objects.
    module = getattr(getattr(reducer, "func", reducer), "__module__", None)
    return isinstance(module, str) and module.startswith("tblib.")


def _recording(callback: BufferCallback, read_only: list[bool]) -> BufferCallback:
    """The callback; records of each buffer out of band whether it is read-only."""

    def take(buffer: PickleBuffer) -> object:
        in_band = callback(buffer)
        if not in_band:
            with buffer.raw() as view:
                read_only.append(view.readonly)
        return in_band

    return take


# Opcodes of pickle, as in the standard library's pickletools: protocol 5, then
# `waybill._pickled.load` as a global.
_PROTOCOL = b"\x80\x05"
_START = _PROTOCOL + b"\x8c\x10waybill._pickled\x8c\x04load\x93"
_NEXT_BUFFER, _READONLY_BUFFER = b"\x97", b"\x98"
# The start with `load_or`, for a payload with a fallback.
_START_OR = _PROTOCOL + b"\x8c\x10waybill._pickled\x8c\x07load_or\x93"
# Tuples of one, two and three items; the call, the end.
_TUPLES, _CALL_AND_STOP = (b"\x85", b"\x86", b"\x87"), b"R."


def prepend_call(first: FirstCall, data: bytes) -> bytes:
    """The pickle ``data`` after a call whose result is dropped. The call installs
    waybill in an engine's workers before anything is loaded."""
    function, argument = first
    pushed = _cached_opcodes_to_push(function), _opcodes_to_push(argument), _TUPLES[0]
    return b"".join((_PROTOCOL, *pushed, b"R0", data[len(_PROTOCOL) :]))


def _opcodes_to_push(value: object) -> bytes:
    """The opcodes that push a plain value, or a global by its name."""
    return standard.dumps(value, 3)[len(_PROTOCOL) : -1]


_cached_opcodes_to_push = functools.cache(_opcodes_to_push)


def stream(payload: bytes) -> bytes:
    """The pickle of a payload."""
    return b"".join(_parts(payload, [], None))


def _parts(
    payload: bytes, read_only: list[bool], fallback: Fallback | None
) -> tuple[bytes, bytes, bytes]:
    """(bytes before the payload, the payload, bytes after it).

    ``read_only``: for each buffer out of band, whether it is read-only.
    """
    size = len(payload)
    start = _START if fallback is None else _START_OR
    if size < 1 << 8:
        start += b"C" + struct.pack("<B", size)
    elif size < 1 << 32:
        start += b"B" + struct.pack("<I", size)
    else:
        start += b"\x8e" + struct.pack("<Q", size)
    more = [] if fallback is None else [_opcodes_to_push(fallback)]
    if read_only:
        marks = (_NEXT_BUFFER + _READONLY_BUFFER * is_set for is_set in read_only)
        more.append(b"".join((b"(", *marks, b"t")))
    return start, payload, b"".join((*more, _TUPLES[len(more)], _CALL_AND_STOP))
