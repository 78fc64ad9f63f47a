"""Load options of a call, and restrictions of the process.

Policies, limits and keys are in security.py.
"""

from __future__ import annotations

from waybill import _core
from waybill._api.configuration import TABLE, option_value
from waybill.security import KeyRing, Limits, Policy

#: A policy for data alone: str, bytes, numbers, lists, tuples, dicts, sets and other
#: builtin types. It imports nothing, calls nothing and builds no code.
DATA_ONLY = Policy()

LoadOptions = tuple[object, object, tuple[int | None, ...] | None]


def load_options_of(
    policy: Policy | None, keys: KeyRing | None, limits: Limits | None
) -> LoadOptions | None:
    """The load options: arguments of a call, else options of the process; or None."""
    options = (
        option_value("policy", policy),
        option_value("keys", keys),
        option_value("limits", limits),
    )
    return None if options == (None, None, None) else options


def restrict(
    *,
    policy: Policy | None = None,
    keys: KeyRing | None = None,
    limits: Limits | None = None,
) -> None:
    """Applies these options to every later load in this process.

    They add to the options of a load: all policies must allow the payload, a key of
    each ring must have signed it, and the lowest limits apply. Nothing undoes this:
    neither another interpreter nor another import of the module. Further calls add
    options. Forked processes inherit them, other processes do not.
    """
    given = {"policy": policy, "keys": keys, "limits": limits}
    if not any(value is not None for value in given.values()):
        raise TypeError("restrict() needs a policy, keys or limits")
    # Configured options do not count, because configure() can change them back.
    handle, ring, ceilings = (
        None if value is None else TABLE[name].convert(value)
        for name, value in given.items()
    )
    _core.restrict_process((handle, ring, ceilings))
