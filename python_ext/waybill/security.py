"""Who may send what to this process: policies, limits, keys and signatures of payloads.

docs/security.md and docs/signatures.md tell how to use them.
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
    """Ceilings for what a payload may come to; None is no ceiling.

    What is beyond one is refused with a DecodeError whose code is "limit_exceeded",
    before anything is imported or built. ``STRICT_LIMITS`` are those for strangers.
    """

    #: Bytes of the payload.
    max_bytes: int | None = _DEFAULTS[0]
    #: Values in it, each key and item counted.
    max_values: int | None = _DEFAULTS[1]
    #: Containers inside containers.
    max_depth: int | None = _DEFAULTS[2]
    #: Bytes of one str or bytes.
    max_text: int | None = _DEFAULTS[3]
    #: Bytes of one int.
    max_integer: int | None = _DEFAULTS[4]
    #: Items of one container.
    max_items: int | None = _DEFAULTS[5]
    #: Bytes of memory that its data takes, as estimated from above.
    max_memory: int | None = _DEFAULTS[6]
    #: Values when what is referred to counts each time ("billion laughs").
    max_unfolded: int | None = _DEFAULTS[7]
    #: Steps that keys may take beyond 256 each, to be hashed and, where this is
    #: below the default, to be put in their place; then NaN is refused as a key, too.
    max_key_steps: int | None = _DEFAULTS[8]


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

            warnings.warn(
                f"waybill.security.Policy: {doubt}", UserWarning, stacklevel=2
            )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a policy cannot be changed")

    def __repr__(self) -> str:
        return f"waybill.security.Policy({self.rules!r})"

    def __reduce__(self) -> tuple[type[Policy], tuple[str]]:
        return Policy, (self.rules,)

    def ask(self, request: str, module: str = "", name: str = "") -> Verdict:
        """Whether it allows a request: "import", "lookup", "call" or "code"."""
        return Verdict(*_core.ask(self._handle, request, module, name))


#: Data, and what the standard library makes of it: dates, decimals, UUIDs, paths,
#: deques, counters, ordered dicts.
STANDARD_TYPES = Policy(_core.STANDARD_TYPES)
#: No code by value; whatever is installed may be called.
INSTALLED_CODE = Policy("allow call *")


class SigningKey:
    """What signs payloads: a private key, or a key that both sides share (MAC).

    The secret is held where Python cannot see it, in memory that is wiped when the key
    dies. What is no key, or not one to sign with, raises SignatureError, which tells
    nothing of it.
    """

    __slots__ = ("_handle",)
    _handle: Any

    def __init__(self) -> None:
        raise TypeError(
            "use generate(), from_file(), from_environment() or from_text()"
        )

    @classmethod
    def _of(cls, handle: object) -> SigningKey:
        self = cls.__new__(cls)
        self._handle = handle
        return self

    @classmethod
    def generate(cls, algorithm: str = "ed25519") -> SigningKey:
        """A new key: "ed25519", or "mac" for one that both sides share."""
        return cls._of(_core.generate_key(algorithm))

    @classmethod
    def from_file(cls, path: StrPath) -> SigningKey:
        """The key in a file that nobody but its owner may use."""
        return cls._of(_core.read_key("file", os.fsencode(path)))

    @classmethod
    def from_environment(cls, name: str) -> SigningKey:
        """The key in the environment variable of that name, which keeps its text."""
        return cls._of(_core.read_key("environment", os.fsencode(name)))

    @classmethod
    def from_text(cls, text: str) -> SigningKey:
        """The key that a text is. Who has the text has the secret: prefer a file."""
        return cls._of(_core.read_key("text", text))

    @property
    def algorithm(self) -> str:
        """ "ed25519" or "mac"."""
        return _core.describe_key(self._handle)[0]

    @property
    def id(self) -> str:
        """16 hexadecimal digits, by which the two halves of a key know each other."""
        return _core.describe_key(self._handle)[1]

    @property
    def public_text(self) -> str:
        """The line for those who check. SignatureError for a MAC key: it has none."""
        return _core.public_text(self._handle)

    def save(self, path: StrPath) -> None:
        """Writes the secret to a new file for its owner alone; never overwrites."""
        _core.save_key(self._handle, os.fsencode(path))

    def __repr__(self) -> str:
        return f"<waybill.security.SigningKey {self.algorithm} {self.id}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "a SigningKey holds a secret, and is neither copied nor sent; let each "
            "process read its own, by from_file() or from_environment()"
        )


class KeyRing:
    """The keys by which payloads are accepted: public keys and MAC keys.

    Several may be known at a time, so that senders can change theirs one by one. A
    private key is refused: who only checks should hold nothing that signs. ``keys``
    are what ``add`` takes.
    """

    __slots__ = ("_handle",)

    def __init__(self, *keys: str | SigningKey) -> None:
        self._handle = _core.key_ring()
        for key in keys:
            self.add(key)

    @classmethod
    def from_file(cls, *paths: StrPath) -> KeyRing:
        """The keys in these files; nobody but its owner may use one with MAC keys."""
        ring = cls()
        for path in paths:
            _core.add_keys(ring._handle, "file", os.fsencode(path))
        return ring

    @classmethod
    def from_environment(cls, name: str) -> KeyRing:
        """The keys in the environment variable of that name, one in each line."""
        ring = cls()
        _core.add_keys(ring._handle, "environment", os.fsencode(name))
        return ring

    @classmethod
    def from_text(cls, text: str) -> KeyRing:
        """The keys in a text, one in each line."""
        return cls(text)

    def add(self, key: str | SigningKey) -> None:
        """Adds the keys of a text, or what checks the signatures of a SigningKey."""
        if isinstance(key, SigningKey):
            _core.add_key(self._handle, key._handle)
        else:
            _core.add_keys(self._handle, "text", key)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the keys, in the order in which they were added."""
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
    """The payload with a signature; one that it has is replaced.

    With ``application``, its application field is replaced too, by these bytes; empty
    ones take it away. ``dumps(obj, key=key, application=...)`` gives the same in one
    step. Raises DecodeError for what is no payload.
    """
    if application is not None:
        data = _core.with_application(data, application)
    return _core.sign(data, _handle_of("key", key))


def verify(data: Buffer, keys: KeyRing) -> None:
    """Raises SignatureError unless the payload is signed by one of these keys.

    Then checks its form, as ``waybill verify`` does, and raises DecodeError. Nothing is
    parsed before the signature has proven right, and nothing built at all. To load what
    was verified, load these same bytes: what is read twice may have changed.
    """
    _core.verify(data, _handle_of("keys", keys))


def application(data: Buffer, keys: KeyRing | None = None) -> bytes | None:
    """What the sender put beside the object, by ``dumps(obj, application=...)``.

    A nonce, a task's id, an expiry: known before anything is loaded. With ``keys`` the
    signature is checked first. Without, anybody may have written it.
    """
    return _core.application(data, None if keys is None else _handle_of("keys", keys))


_KINDS: dict[str, Any] = {"policy": Policy, "key": SigningKey, "keys": KeyRing}


def _handle_of(option: str, given: Any) -> object:
    """What the extension takes for a policy, a key or a ring. TypeError for what is
    none, which does not show what may be a secret."""
    kind = _KINDS[option]
    if isinstance(given, kind):
        return given._handle
    shown = f"{given!r:.80}" if option == "policy" else type(given).__name__
    raise TypeError(f"{option} must be a waybill.security.{kind.__name__}, not {shown}")
