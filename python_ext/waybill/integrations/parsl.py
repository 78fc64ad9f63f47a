"""Parsl: functions, arguments and results are sent by waybill.

    import waybill.integrations.parsl
    waybill.integrations.parsl.install()

where the apps are called. Workers follow with their first task.
docs/integrations/parsl.md has the details. Tested by tests/engines/test_parsl.py.
"""

from __future__ import annotations

import logging
import struct
from typing import Any

from waybill._api.errors import Error
from waybill._core import dumps, loads
from waybill.calls import _texts_of
from waybill.integrations import _following
from waybill.integrations._failures import raised
from waybill.integrations.pickle import payload

_log = logging.getLogger(__name__)

#: None before the first call of `install` or `uninstall`, as in workers.
_is_installed: bool | None = None
#: Whether this is a worker, which uses the options in its messages.
_is_worker = False


def install(**options: Any) -> None:
    """Makes waybill the first of Parsl's methods for code and for data. Options are
    those of ``waybill.configure``, for workers too.

    Parsl uses its next method, dill, for objects that waybill cannot send; the log says
    so. If no method can send an object, waybill's error is raised.
    """
    global _is_installed
    _following.set_options(options)
    from parsl.serialize import facade

    _is_installed = True
    for methods in (facade.methods_for_code, facade.methods_for_data):
        others = {k: v for k, v in methods.items() if k not in _IDENTIFIERS}
        methods.clear()  # Keep the dict, which Parsl refers to; its order counts.
        methods[WaybillSerializer.identifier] = WaybillSerializer()
        methods.update(others)
        methods[LastWord.identifier] = LastWord()


def uninstall() -> None:
    """Undoes ``install`` in this process."""
    global _is_installed
    from parsl.serialize import facade

    _is_installed = False
    for methods in (facade.methods_for_code, facade.methods_for_data):
        for identifier in _IDENTIFIERS:
            methods.pop(identifier, None)


class WaybillSerializer:
    """Has the methods of Parsl's SerializerBase, without an import of Parsl."""

    #: Module and class; workers import it.
    identifier = b"waybill.integrations.parsl WaybillSerializer"

    def serialize(self, data: Any) -> bytes:
        try:
            return _body(data)
        except Error as error:
            _log.warning("Parsl tries its next method, since waybill failed: %s", error)
            raise

    def deserialize(self, body: bytes) -> Any:
        global _is_worker
        options, described, data = _split(body)
        if _is_installed is None:
            install()  # Send results by waybill to a sender that uses it.
            _is_worker = True
        if _is_worker:
            _following.follow(options)
            return loads(data)  # The worker sends the error.
        try:
            return loads(data)
        except (Exception, SystemExit) as failure:
            # An exception would end the thread that takes results.
            return _failed(failure, described)


class LastWord(WaybillSerializer):
    """Raises waybill's error last: users see the last one, and it has the path."""

    identifier = b"waybill.integrations.parsl LastWord"

    def serialize(self, data: Any) -> bytes:
        return _body(data)


def _body(data: Any) -> bytes:
    """The options for workers, the texts of an exception for a client that cannot load
    it, and a payload. The first two have their length in front."""
    from parsl.app.errors import RemoteExceptionWrapper

    described = b""
    if isinstance(data, RemoteExceptionWrapper):
        described = dumps(_texts_of(data.get_exception()))
    options = _following.packed_options()
    heads = (_LENGTH.pack(len(part)) + part for part in (options, described))
    return b"".join((*heads, payload(data)))


def _split(body: bytes) -> tuple[bytes, bytes, bytes]:
    """The parts that ``_body`` joins."""
    parts, rest = [], body
    for _ in range(2):
        end = _LENGTH.size + _LENGTH.unpack_from(rest)[0]
        parts.append(rest[_LENGTH.size : end])
        rest = rest[end:]
    return parts[0], parts[1], rest


def _failed(failure: BaseException, described: bytes) -> Any:
    """An object that raises, in a client, the reason why there is no result."""
    from parsl.app.errors import RemoteExceptionWrapper

    error = raised(failure, *loads(described)) if described else failure
    return RemoteExceptionWrapper(type(error), error, error.__traceback__)


_LENGTH = struct.Struct(">I")


_IDENTIFIERS = WaybillSerializer.identifier, LastWord.identifier
