"""Payloads that claim another version of Python, or whose bytes were changed and sealed
again."""

import pytest

xxhash = pytest.importorskip("xxhash")

#: A minor version and a bytecode magic that no Python has.
MINOR, MAGIC = 99, 65000
#: The head of an unsigned payload up to its bytecode magic: an array of 9, in which an
#: array of 5 begins with the mark, the format version and Python's major version.
START = b"\x99\x95\xa2wb\x01\x03"


def as_of_another_python(payload):
    """The payload with another version in its header, sealed again."""
    at = len(START)
    assert payload.startswith(START) and payload[at + 1] == 0xCD
    assert payload[-1:] == b"\xc0" and payload[-11:-9] == b"\xc4\x08"
    header = bytes([MINOR, 0xCD]) + MAGIC.to_bytes(2, "big")
    return sealed_again(START + header + payload[at + len(header) :])


def altered(payload, old, new):
    """The payload with `new` in place of `old`, of equal length, sealed again."""
    assert payload.count(old) == 1 and len(old) == len(new)
    return sealed_again(payload.replace(old, new))


def sealed_again(payload):
    """An unsigned payload whose digest is that of its bytes."""
    body = payload[:-11]
    return body + b"\xc4\x08" + xxhash.xxh3_64_digest(body) + b"\xc0"
