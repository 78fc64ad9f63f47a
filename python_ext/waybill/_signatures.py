"""Keys, and signatures of payloads. docs/signatures.md tells how to use them."""

from __future__ import annotations

import os

from waybill import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from typing_extensions import Buffer

    StrPath = str | os.PathLike[str]


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
        return f"<waybill.SigningKey {self.algorithm} {self.id}>"

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
        return f"<waybill.KeyRing {' '.join(self.ids) or 'without keys'}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "a KeyRing may hold secrets, and is neither copied nor sent; let each "
            "process read its own, by from_file() or from_environment()"
        )


def handle_of_key(key: SigningKey) -> object:
    """What the extension takes for a key. TypeError for anything else."""
    if not isinstance(key, SigningKey):
        raise TypeError(f"key must be a waybill.SigningKey, not {type(key).__name__}")
    return key._handle


def handle_of_keys(keys: KeyRing) -> object:
    """What the extension takes for a ring. TypeError for anything else."""
    if not isinstance(keys, KeyRing):
        raise TypeError(f"keys must be a waybill.KeyRing, not {type(keys).__name__}")
    return keys._handle


def sign(data: Buffer, key: SigningKey, application: Buffer | None = None) -> bytes:
    """The payload with a signature; one that it has is replaced.

    With ``application``, its application field is replaced too, by these bytes; empty
    ones take it away. ``dumps(obj, key=key, application=...)`` gives the same in one
    step. Raises DecodeError for what is no payload.
    """
    if application is not None:
        data = _core.with_application(data, application)
    return _core.sign(data, handle_of_key(key))


def verify(data: Buffer, keys: KeyRing) -> None:
    """Raises SignatureError unless the payload is signed by one of these keys.

    Then checks its form, as ``waybill verify`` does, and raises DecodeError. Nothing is
    parsed before the signature has proven right, and nothing built at all. To load what
    was verified, load these same bytes: what is read twice may have changed.
    """
    _core.verify(data, handle_of_keys(keys))


def application(data: Buffer, keys: KeyRing | None = None) -> bytes | None:
    """What the sender put beside the object, by ``dumps(obj, application=...)``.

    A nonce, a task's id, an expiry: known before anything is loaded. With ``keys`` the
    signature is checked first. Without, anybody may have written it.
    """
    return _core.application(data, None if keys is None else handle_of_keys(keys))
