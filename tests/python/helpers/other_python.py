"""Payloads as if a version of Python had made them that is not this one."""

import msgpack
import xxhash

#: A minor version and a bytecode magic that no Python has.
MINOR, MAGIC = 99, 65000


def as_of_another_python(payload):
    """The payload with another version in its header, sealed again."""
    unpacker = msgpack.Unpacker(strict_map_key=False)
    unpacker.feed(payload)
    assert unpacker.read_array_header() in (8, 9)
    start = unpacker.tell()
    mark, form, major, _, _, *rest = unpacker.unpack()
    header = msgpack.packb([mark, form, major, MINOR, MAGIC, *rest])
    body = payload[:start] + header + payload[unpacker.tell() : -11]
    assert payload[-1:] == b"\xc0" and payload[-11:-9] == b"\xc4\x08"
    return body + b"\xc4\x08" + xxhash.xxh3_64_digest(body) + b"\xc0"
