"""The options of an engine's ``install()``, and how its workers receive them. Tested by
tests/engines/test_install_options.py."""

from __future__ import annotations

from typing import Any

from waybill._api.configuration import configure, forwarded_options
from waybill._core import dumps, loads
from waybill.security import Policy

#: A client may send any options: it can send any code. ``restrict`` still applies.
_ANYTHING = Policy("allow code\nallow call *")

#: The options for workers that install() got in this process, and their payload.
_given: dict[str, Any] = {}
_packed = b""


def set_options(options: dict[str, Any]) -> None:
    """Configures this process, and stores the options that workers are to receive.

    Raises what ``configure`` raises, and EncodeError for options that cannot be sent;
    then nothing is set.
    """
    global _given, _packed
    if not options:
        return
    given = {**_given, **forwarded_options(options)}
    packed = dumps(given) if given else b""
    configure(**options)
    _given, _packed = given, packed


def packed_options() -> bytes:
    """The argument of ``follow`` in a worker; empty if there are no options."""
    return _packed


def follow(packed: bytes) -> None:
    """Configures a worker with the client's options, unless it has them already."""
    global _given, _packed
    if packed and packed != _packed:
        given = loads(packed, policy=_ANYTHING)
        configure(**given)
        _given, _packed = given, packed
