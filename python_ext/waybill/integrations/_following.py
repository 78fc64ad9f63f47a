"""Options that an engine's ``install()`` takes, and how its workers get them.

Tested by tests/engines/test_install_options.py.
"""

from __future__ import annotations

from typing import Any

from waybill._api.configuration import configure, forwarded_options
from waybill._core import dumps, loads
from waybill.security import Policy

#: A client that sends options can send anything; what is restricted stays so.
_ANYTHING = Policy("allow code\nallow call *")

#: What install() was given in this process, of what workers get, and that as a payload.
_given: dict[str, Any] = {}
_packed = b""


def take(options: dict[str, Any]) -> None:
    """Configures this process, and notes what workers are to be told.

    Raises what ``configure`` raises, and EncodeError for what cannot travel; then
    nothing is set.
    """
    global _given, _packed
    if not options:
        return
    given = {**_given, **forwarded_options(options)}
    packed = dumps(given) if given else b""
    configure(**options)
    _given, _packed = given, packed


def packed() -> bytes:
    """For ``follow``, in a worker; empty if there is nothing to be told."""
    return _packed


def follow(packed: bytes) -> None:
    """Configures a worker as its client was; again only if that says something else."""
    global _given, _packed
    if packed and packed != _packed:
        given = loads(packed, policy=_ANYTHING)
        configure(**given)
        _given, _packed = given, packed
