"""Parsl: functions, arguments and results go by waybill.

    import waybill.integrations.parsl
    waybill.integrations.parsl.install()

where the apps are called. Workers follow with the first task that they are sent.
docs/integrations/parsl.md has the details. Tested by tests/engines/test_parsl.py.
"""

from __future__ import annotations

import logging
import struct
from typing import Any

from waybill._api.errors import Error
from waybill._core import dumps, loads
from waybill.calls import _words_of
from waybill.integrations import _following
from waybill.integrations._failures import raised
from waybill.integrations.pickle import payload

_log = logging.getLogger(__name__)

#: None in a process where nobody has said anything, in workers for example.
_is_installed: bool | None = None
#: Whether this is a worker, which follows what it is sent.
_follows = False


def install(**options: Any) -> None:
    """From now on, waybill is the first of Parsl's methods for code and for data.
    Options are those of ``waybill.configure``, for workers too.

    Parsl goes on to its next method, dill, with what waybill cannot send; the log says
    so. What no method can send is told with waybill's error.
    """
    global _is_installed
    _following.take(options)
    from parsl.serialize import facade

    _is_installed = True
    for methods in (facade.methods_for_code, facade.methods_for_data):
        others = {k: v for k, v in methods.items() if k not in _OURS}
        methods.clear()  # Parsl tries them in order, and holds on to the dict.
        methods[WaybillSerializer.identifier] = WaybillSerializer()
        methods.update(others)
        methods[LastWord.identifier] = LastWord()


def uninstall() -> None:
    """Undoes ``install`` in this process."""
    global _is_installed
    from parsl.serialize import facade

    _is_installed = False
    for methods in (facade.methods_for_code, facade.methods_for_data):
        for identifier in _OURS:
            methods.pop(identifier, None)


class WaybillSerializer:
    """What Parsl asks of a SerializerBase, without the import of Parsl."""

    #: Module and class, for workers to import.
    identifier = b"waybill.integrations.parsl WaybillSerializer"

    def serialize(self, data: Any) -> bytes:
        try:
            return _body(data)
        except Error as error:
            _log.warning("waybill cannot send this, Parsl tries further: %s", error)
            raise

    def deserialize(self, body: bytes) -> Any:
        global _follows
        told, words, data = _parts(body)
        if _is_installed is None:
            install()  # Who is sent to by waybill answers by waybill.
            _follows = True
        if _follows:
            _following.follow(told)
            return loads(data)  # What it raises, the worker answers with.
        try:
            return loads(data)
        except (Exception, SystemExit) as failure:
            # It would end the thread that takes results.
            return _failed(failure, words)


class LastWord(WaybillSerializer):
    """Comes after all other methods: the error of the last one is what users see, and
    waybill's names the path to the object."""

    identifier = b"waybill.integrations.parsl LastWord"

    def serialize(self, data: Any) -> bytes:
        return _body(data)


def _body(data: Any) -> bytes:
    """A payload; before it what workers are told, and what clients are that cannot load
    the exception in it. Each of these two has its length in front."""
    from parsl.app.errors import RemoteExceptionWrapper

    words = b""
    if isinstance(data, RemoteExceptionWrapper):
        words = dumps(_words_of(data.get_exception()))
    told = _following.packed()
    return b"".join(
        (_LENGTH.pack(len(told)), told, _LENGTH.pack(len(words)), words, payload(data))
    )


def _parts(body: bytes) -> tuple[bytes, bytes, bytes]:
    """What ``_body`` has put together."""
    parts, rest = [], body
    for _ in range(2):
        end = _LENGTH.size + _LENGTH.unpack_from(rest)[0]
        parts.append(rest[_LENGTH.size : end])
        rest = rest[end:]
    return parts[0], parts[1], rest


def _failed(failure: BaseException, words: bytes) -> Any:
    """What raises, in a client, why there is no result."""
    from parsl.app.errors import RemoteExceptionWrapper

    error = raised(failure, *loads(words)) if words else failure
    return RemoteExceptionWrapper(type(error), error, error.__traceback__)


_LENGTH = struct.Struct(">I")


_OURS = WaybillSerializer.identifier, LastWord.identifier
