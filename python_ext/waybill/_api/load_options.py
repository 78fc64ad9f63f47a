"""Load options: those of a call, and a ceiling for the process.

Policies, limits and keys are in security.py.
"""

from __future__ import annotations

from waybill import _core
from waybill._api.configuration import TABLE, chosen
from waybill.security import KeyRing, Limits, Policy

#: Nothing but data: str, bytes, numbers, lists, tuples, dicts, sets, and what else is
#: built into the interpreter. Imports nothing, calls nothing, builds no code.
DATA_ONLY = Policy()

LoadOptions = tuple[object, object, tuple[int | None, ...] | None]


def load_options_of(
    policy: Policy | None, keys: KeyRing | None, limits: Limits | None
) -> LoadOptions | None:
    """What the extension takes for a call: what it was given, and what the process has
    configured; None if that is nothing."""
    options = chosen("policy", policy), chosen("keys", keys), chosen("limits", limits)
    return None if options == (None, None, None) else options


def restrict(
    *,
    policy: Policy | None = None,
    keys: KeyRing | None = None,
    limits: Limits | None = None,
) -> None:
    """From now on, every load in this process applies these options too.

    Whatever it is given itself: all policies have to allow it, one key of each ring has
    to have signed it, and the lowest limits count. Nothing takes this back, in no
    interpreter, and not by importing the module anew; further calls add to it.
    Processes that are forked inherit it, others do not.
    """
    given = {"policy": policy, "keys": keys, "limits": limits}
    if not any(value is not None for value in given.values()):
        raise TypeError("restrict() needs a policy, keys or limits")
    # Only what is given: what is configured can be taken back.
    handle, ring, ceilings = (
        None if value is None else TABLE[name].ready(value)
        for name, value in given.items()
    )
    _core.restrict_process((handle, ring, ceilings))
