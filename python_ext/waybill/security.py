"""Controls what this process loads and from whom: policies, limits, keys, signatures.

docs/security.md and docs/signatures.md explain their use.
"""

from __future__ import annotations

import os

from waybill import _core
from waybill._api.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from typing_extensions import Buffer

    StrPath = str | os.PathLike[str]

__all__ = [
    "INSTALLED_CODE",
    "STANDARD_TYPES",
    "STRICT_LIMITS",
    "KeyRing",
    "Limits",
    "Policy",
    "SigningKey",
    "Verdict",
    "application",
    "sign",
    "verify",
]

_DEFAULTS = _core.LIMITS


class Limits(NamedTuple):
    """Upper bounds for a payload; None means no bound.

    A payload beyond a bound is refused with a DecodeError whose code is
    "limit_exceeded", before anything is imported or built. ``STRICT_LIMITS`` are for
    payloads of strangers.
    """

    #: Bytes of the payload.
    max_bytes: int | None = _DEFAULTS[0]
    #: Values in it; each key and each item counts.
    max_values: int | None = _DEFAULTS[1]
    #: Levels of nested containers.
    max_depth: int | None = _DEFAULTS[2]
    #: Bytes of one str or bytes.
    max_text: int | None = _DEFAULTS[3]
    #: Bytes of one int.
    max_integer: int | None = _DEFAULTS[4]
    #: Items of one container.
    max_items: int | None = _DEFAULTS[5]
    #: Bytes of memory for its data, as an upper estimate.
    max_memory: int | None = _DEFAULTS[6]
    #: Values if each reference counts as a copy of its target ("billion laughs").
    max_unfolded: int | None = _DEFAULTS[7]
    #: Steps to hash keys, beyond 256 for each. Below the default, steps to insert keys
    #: into their tables count too, and NaN is refused as a key.
    max_key_steps: int | None = _DEFAULTS[8]


#: For payloads of strangers; the default under a policy that allows no code by value.
STRICT_LIMITS = Limits(*_core.STRICT_LIMITS)


class Verdict(NamedTuple):
    """The decision of a policy, with the rule that made it; None if no rule applied."""

    allowed: bool
    rule: str | None


class Policy:
    """Rules for what payloads may do while they are loaded; the first match decides.

    One rule on each line; a request that no rule allows is denied::

        deny import numpy.ctypeslib           # exceptions come first
        allow import numpy.*                  # modules
        allow lookup numpy.*:ndarray          # names in modules
        allow call collections:OrderedDict    # calls while objects are built
        allow code                            # functions and classes by value

    A pattern is a dotted name, a name with ``.*`` for it and all below it, or ``*``. A
    rule that allows a call also allows its lookup and the import of its module; if an
    import is denied, so are lookups and calls in it. A UserWarning reports a name that
    is denied by name and allowed by a later wildcard. A policy is a seat belt, not a
    sandbox: see docs/security.md.
    """

    __slots__ = ("_handle", "rules")

    _handle: object
    #: The text of the rules.
    rules: str

    def __init__(self, rules: str = "") -> None:
        handle = _core.policy(rules)
        object.__setattr__(self, "_handle", handle)
        object.__setattr__(self, "rules", rules)
        for warning in _core.policy_warnings(handle):
            import warnings

            warnings.warn(
                f"waybill.security.Policy: {warning}", UserWarning, stacklevel=2
            )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a policy cannot be changed")

    def __repr__(self) -> str:
        return f"waybill.security.Policy({self.rules!r})"

    def __reduce__(self) -> tuple[type[Policy], tuple[str]]:
        return Policy, (self.rules,)

    def ask(self, request: str, module: str = "", name: str = "") -> Verdict:
        """The decision on a request: "import", "lookup", "call" or "code"."""
        return Verdict(*_core.ask(self._handle, request, module, name))


#: Plain data and value types of the standard library: dates, decimals, UUIDs, paths,
#: deques, counters, ordered dicts.
STANDARD_TYPES = Policy(_core.STANDARD_TYPES)
#: No code by value; any installed function may be called.
INSTALLED_CODE = Policy("allow call *")


class SigningKey:
    """A key that signs payloads: a private key, or a secret of both sides (MAC).

    The secret is in memory that Python cannot read and that is wiped with the key.
    A malformed key, or one that cannot sign, raises SignatureError, whose text reveals
    nothing about it.
    """

    __slots__ = ("_handle",)
    _handle: Any

    def __init__(self) -> None:
        raise TypeError(
            "SigningKey() cannot be called; use generate(), from_file(), "
            "from_environment() or from_text()"
        )

    @classmethod
    def _of(cls, handle: object) -> SigningKey:
        self = cls.__new__(cls)
        self._handle = handle
        return self

    @classmethod
    def generate(cls, algorithm: str = "ed25519") -> SigningKey:
        """A new key: "ed25519", or "mac" for a secret that both sides share."""
        return cls._of(_core.generate_key(algorithm))

    @classmethod
    def from_file(cls, path: StrPath) -> SigningKey:
        """The key in a file that only its owner can access."""
        return cls._of(_core.read_key("file", os.fsencode(path)))

    @classmethod
    def from_environment(cls, name: str) -> SigningKey:
        """The key in an environment variable, which keeps its value."""
        return cls._of(_core.read_key("environment", os.fsencode(name)))

    @classmethod
    def from_text(cls, text: str) -> SigningKey:
        """The key in a text. The text is as secret as the key: prefer a file."""
        return cls._of(_core.read_key("text", text))

    @property
    def algorithm(self) -> str:
        """ "ed25519" or "mac"."""
        return _core.describe_key(self._handle)[0]

    @property
    def id(self) -> str:
        """16 hexadecimal digits, equal for the private and the public half of a key."""
        return _core.describe_key(self._handle)[1]

    @property
    def public_text(self) -> str:
        """The public key, as a line of text. Raises SignatureError for a MAC key."""
        return _core.public_text(self._handle)

    def save(self, path: StrPath) -> None:
        """Writes the secret to a new file that only its owner can access; never
        overwrites one."""
        _core.save_key(self._handle, os.fsencode(path))

    def __repr__(self) -> str:
        return f"<waybill.security.SigningKey {self.algorithm} {self.id}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "a SigningKey holds a secret, and is neither copied nor sent; let each "
            "process read its own, by from_file() or from_environment()"
        )


class KeyRing:
    """The public keys and MAC keys whose signatures are accepted.

    It may hold several, so that senders can replace theirs one by one. A private key is
    refused: a process that only verifies should hold none. ``keys`` are arguments of
    ``add``.
    """

    __slots__ = ("_handle",)

    def __init__(self, *keys: str | SigningKey) -> None:
        self._handle = _core.key_ring()
        for key in keys:
            self.add(key)

    @classmethod
    def from_file(cls, *paths: StrPath) -> KeyRing:
        """The keys in these files; only its owner may access one with MAC keys."""
        ring = cls()
        for path in paths:
            _core.add_keys(ring._handle, "file", os.fsencode(path))
        return ring

    @classmethod
    def from_environment(cls, name: str) -> KeyRing:
        """The keys in an environment variable, one on each line."""
        ring = cls()
        _core.add_keys(ring._handle, "environment", os.fsencode(name))
        return ring

    @classmethod
    def from_text(cls, text: str) -> KeyRing:
        """The keys in a text, one on each line."""
        return cls(text)

    def add(self, key: str | SigningKey) -> None:
        """Adds the keys in a text, or the key that verifies the signatures of a
        SigningKey."""
        if isinstance(key, SigningKey):
            _core.add_key(self._handle, key._handle)
        else:
            _core.add_keys(self._handle, "text", key)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the keys, in the order they were added."""
        return tuple(_core.key_ids(self._handle))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<waybill.security.KeyRing {' '.join(self.ids) or 'without keys'}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "a KeyRing may hold secrets, and is neither copied nor sent; let each "
            "process read its own, by from_file() or from_environment()"
        )


def sign(data: Buffer, key: SigningKey, application: Buffer | None = None) -> bytes:
    """The payload with a signature, which replaces any other.

    If ``application`` is given, these bytes replace its application field; empty bytes
    remove it. ``dumps(obj, key=key, application=...)`` gives the same in one step.
    Raises DecodeError for a malformed payload.
    """
    if application is not None:
        data = _core.with_application(data, application)
    return _core.sign(data, _handle_of("key", key))


def verify(data: Buffer, keys: KeyRing) -> None:
    """Raises SignatureError unless the payload is signed by one of these keys.

    Then checks its form, as ``waybill verify`` does, and raises DecodeError. Parses
    nothing before the signature is verified, and builds nothing. To load a verified
    payload, load these same bytes: a file may change between two reads.
    """
    _core.verify(data, _handle_of("keys", keys))


def application(data: Buffer, keys: KeyRing | None = None) -> bytes | None:
    """The bytes that the sender passed to ``dumps(obj, application=...)``, or None.

    For example a nonce, a task's id or an expiry, readable before anything is loaded.
    With ``keys`` the signature is verified first. Without, anybody may have written
    them.
    """
    return _core.application(data, None if keys is None else _handle_of("keys", keys))


_KINDS: dict[str, Any] = {"policy": Policy, "key": SigningKey, "keys": KeyRing}


def _handle_of(option: str, given: Any) -> object:
    """The extension's handle of a policy, key or key ring. Raises TypeError for any
    other value, and does not show one that may be secret."""
    kind = _KINDS[option]
    if isinstance(given, kind):
        return given._handle
    shown = f"{given!r:.80}" if option == "policy" else type(given).__name__
    raise TypeError(f"{option} must be a waybill.security.{kind.__name__}, not {shown}")
