"""On what terms payloads are let in: policies, limits, a ceiling for the process."""

from __future__ import annotations

from waybill import _core
from waybill._configuration import TABLE, chosen
from waybill._signatures import KeyRing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple, NoReturn
else:
    from waybill._records import NamedTuple

_LIMITS = _core.LIMITS


class Limits(NamedTuple):
    """Ceilings for what a payload may come to; None is no ceiling.

    What is beyond one is refused with a DecodeError whose code is "limit_exceeded",
    before anything is imported or built. ``STRICT_LIMITS`` are those for strangers.
    """

    #: Bytes of the payload.
    max_bytes: int | None = _LIMITS[0]
    #: Values in it, each key and item counted.
    max_values: int | None = _LIMITS[1]
    #: Containers inside containers.
    max_depth: int | None = _LIMITS[2]
    #: Bytes of one str or bytes.
    max_text: int | None = _LIMITS[3]
    #: Bytes of one int.
    max_integer: int | None = _LIMITS[4]
    #: Items of one container.
    max_items: int | None = _LIMITS[5]
    #: Bytes of memory that its data takes, as estimated from above.
    max_memory: int | None = _LIMITS[6]
    #: Values when what is referred to counts each time ("billion laughs").
    max_unfolded: int | None = _LIMITS[7]
    #: Steps that keys may take beyond 256 each, to be hashed and, where this is
    #: below the default, to be put in their place; then NaN is refused as a key, too.
    max_key_steps: int | None = _LIMITS[8]


#: For payloads from strangers; what policies that let no code in go with, unless others
#: are given.
STRICT_LIMITS = Limits(*_core.STRICT_LIMITS)


class Verdict(NamedTuple):
    """A policy's answer, with the rule that decided; None if no rule has an answer."""

    allowed: bool
    rule: str | None


class Policy:
    """What payloads may do while they are loaded: rules, of which the first decides.

    One rule on each line; what no rule allows is denied::

        deny import numpy.ctypeslib           # exceptions come first
        allow import numpy.*                  # modules
        allow lookup numpy.*:ndarray          # names in modules
        allow call collections:OrderedDict    # calls while objects are built
        allow code                            # functions and classes by value

    A pattern is a dotted name, a name with ``.*`` for it and all below it, or ``*``.
    Who may call a thing may look it up and import its module; where an import is
    denied, so is the rest. A UserWarning says where rules deny by name what a later one
    allows by a wildcard. A seat belt, no sandbox: see docs/security.md.
    """

    __slots__ = ("_handle", "rules")

    _handle: object
    #: The text that it was made from.
    rules: str

    def __init__(self, rules: str = "") -> None:
        handle = _core.policy(rules)
        object.__setattr__(self, "_handle", handle)
        object.__setattr__(self, "rules", rules)
        for doubt in _core.doubts(handle):
            import warnings

            warnings.warn(f"waybill.Policy: {doubt}", UserWarning, stacklevel=2)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a policy cannot be changed")

    def __repr__(self) -> str:
        return f"waybill.Policy({self.rules!r})"

    def __reduce__(self) -> tuple[type[Policy], tuple[str]]:
        return Policy, (self.rules,)

    def ask(self, request: str, module: str = "", name: str = "") -> Verdict:
        """Whether it allows a request: "import", "lookup", "call" or "code"."""
        return Verdict(*_core.ask(self._handle, request, module, name))


#: Nothing but data: str, bytes, numbers, lists, tuples, dicts, sets, and what else is
#: built into the interpreter. Imports nothing, calls nothing, builds no code.
DATA_ONLY = Policy()
#: Data, and what the standard library makes of it: dates, decimals, UUIDs, paths,
#: deques, counters, ordered dicts.
STANDARD_TYPES = Policy(_core.STANDARD_TYPES)
#: No code by value; whatever is installed may be called.
INSTALLED_CODE = Policy("allow call *")

Terms = tuple[object, object, tuple[int | None, ...] | None]


def terms_of(
    policy: Policy | None, keys: KeyRing | None, limits: Limits | None
) -> Terms | None:
    """What the extension takes for a call: what it was given, and what the process has
    configured; None if that is nothing."""
    terms = chosen("policy", policy), chosen("keys", keys), chosen("limits", limits)
    return None if terms == (None, None, None) else terms


def handle_of_policy(policy: Policy) -> object:
    """What the extension takes for a policy. TypeError for anything else."""
    if not isinstance(policy, Policy):
        raise TypeError(f"a policy should be a waybill.Policy, not {policy!r:.80}")
    return policy._handle


def restrict(
    *,
    policy: Policy | None = None,
    keys: KeyRing | None = None,
    limits: Limits | None = None,
) -> None:
    """From now on, every load in this process is on these terms too.

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
