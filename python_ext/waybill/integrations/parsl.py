"""Parsl: functions, arguments and results go by waybill.

    import waybill.integrations.parsl
    waybill.integrations.parsl.install()

where the apps are called. Workers follow with the first task that they are sent.
docs/integrations/parsl.md has the details. Tested by tests/engines/test_parsl.py.
"""

from __future__ import annotations

import logging
from typing import Any

from waybill._core import loads
from waybill._errors import Error
from waybill.integrations.pickle import payload

_log = logging.getLogger(__name__)

#: None in a process where nobody has said anything, in workers for example.
_is_installed: bool | None = None


def install() -> None:
    """From now on, waybill is the first of Parsl's methods for code and for data.

    Parsl goes on to its next method, dill, with what waybill cannot send; the log says
    so. What no method can send is told with waybill's error.
    """
    global _is_installed
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
            return payload(data)
        except Error as error:
            _log.warning("waybill cannot send this, Parsl tries further: %s", error)
            raise

    def deserialize(self, body: bytes) -> Any:
        if _is_installed is None:
            install()  # Who is sent to by waybill answers by waybill.
        return loads(body)


class LastWord(WaybillSerializer):
    """Comes after all other methods: the error of the last one is what users see, and
    waybill's names the path to the object."""

    identifier = b"waybill.integrations.parsl LastWord"

    def serialize(self, data: Any) -> bytes:
        return payload(data)


_OURS = WaybillSerializer.identifier, LastWord.identifier
