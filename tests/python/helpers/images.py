"""Images of plain values: equal if type and content are, to the last bit."""

import struct


def image(value):
    """A nested tuple that stands for `value`; hashable, so it serves inside sets."""
    kind = type(value)
    if kind is float:
        return kind, struct.pack("<d", value)
    if kind is complex:
        return kind, struct.pack("<dd", value.real, value.imag)
    if kind in (list, tuple):
        return kind, tuple(map(image, value))
    if kind in (set, frozenset):
        return kind, frozenset(map(image, value))
    if kind is dict:
        return kind, tuple((image(k), image(v)) for k, v in value.items())
    if kind is slice:
        return kind, (image(value.start), image(value.stop), image(value.step))
    if kind is range:
        return kind, (value.start, value.stop, value.step)
    if kind is bytearray:
        return kind, bytes(value)
    return kind, value
