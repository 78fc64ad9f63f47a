"""Measures the memory that payloads of plain data take, beside the estimate of waybill.

Prints for each shape: bytes of the payload, of the peak and of the estimate, the depth
of containers, and the peak of an Unpickler, which holds the received objects.
"""

import io
import sys

import peak_memory
import waybill
from mutation_worker import sealed

NODE = b"\xd4\x00"
LENIENT = waybill.security.STRICT_LIMITS._replace(max_depth=1 << 20, max_unfolded=None)


def array(count):
    return b"\xdd" + count.to_bytes(4, "big")


# Each has objects that are large for the bytes of their payload.
SHAPES = {
    "empty lists": array(5000) + b"\x90" * 5000,
    "empty dicts": array(5000) + b"\x80" * 5000,
    "lists of one": array(2500) + b"\x91\xc0" * 2500,
    "dicts of one": array(2500) + b"\x81\x01\x01" * 2500,
    "dicts of six": array(1000) + (b"\x86" + bytes(range(12))) * 1000,
    "tuples of one": array(1500) + (b"\x92" + NODE + b"\x01\xc0") * 1500,
    "empty sets": array(1500) + (b"\x91" + NODE + b"\x02") * 1500,
    "sets of five": array(1000) + (b"\x96" + NODE + b"\x02" + bytes(range(5))) * 1000,
    "sets of nineteen": array(300)
    + (b"\xdc\x00\x14" + NODE + b"\x02" + bytes(range(19))) * 300,
    "sets of seventy-seven": array(100)
    + (b"\xdc\x00\x4e" + NODE + b"\x02" + bytes(range(77))) * 100,
    "frozensets": array(300)
    + (b"\xdc\x00\x4e" + NODE + b"\x03" + bytes(range(77))) * 300,
    "floats": array(3000) + (b"\xcb" + b"\x3f\xf1" + bytes(6)) * 3000,
    "ints": array(3000) + b"\xcd\x7f\xff" * 3000,
    "big ints": array(500) + (b"\xc7\x09\x03" + b"\x7f" * 9) * 500,
    "texts": array(5000) + b"\xa1\xff".replace(b"\xff", b"x") * 5000,
    "texts of two": array(3000)
    + b"".join(b"\xa2%c%c" % (97 + i % 26, 97 + i // 26 % 26) for i in range(3000)),
    "wide text": b"\xdb"
    + (40003).to_bytes(4, "big")
    + "a".encode() * 39999
    + "🐍".encode(),
    "bytes": array(3000) + b"\xc4\x01x" * 3000,
    "bytearrays": array(1000) + (b"\x92" + NODE + b"\x04\xc4\x01x") * 1000,
    "ranges": array(1000) + (b"\x94" + NODE + b"\x06\x00\x01\x01") * 1000,
    "slices": array(1000) + (b"\x94" + NODE + b"\x05\x00\x01\x01") * 1000,
    "deep lists": b"\x91" * 20_000 + b"\xc0",
    "deep dicts": b"\x81\x01" * 20_000 + b"\xc0",
    "deep tuples": (b"\x92" + NODE + b"\x01") * 10_000 + b"\xc0",
    "big list": array(100_000) + b"\xc0" * 100_000,
    "big dict": b"\xdf"
    + (60_000).to_bytes(4, "big")
    + b"".join(b"\xce" + i.to_bytes(4, "big") + b"\x01" for i in range(60_000)),
    "big set": array(60_001)
    + NODE
    + b"\x02"
    + b"".join(b"\xce" + i.to_bytes(4, "big") for i in range(60_000)),
}


def estimate(data):
    """The lowest max_memory that accepts the payload."""
    low, high = 0, 1 << 34
    while low + 1 < high:
        middle = (low + high) // 2
        try:
            waybill.loads(data, limits=LENIENT._replace(max_memory=middle))
            high = middle
        except waybill.DecodeError:
            low = middle
    return high


def main():
    peak_memory.start_again_with_counter()
    for name, source in SHAPES.items():
        data = sealed(source)
        waybill.loads(data, limits=LENIENT)
        with peak_memory.watch() as peak:
            loaded = waybill.loads(data, policy=waybill.DATA_ONLY, limits=LENIENT)
        del loaded
        stream = waybill.Unpickler(
            io.BytesIO(data), policy=waybill.DATA_ONLY, limits=LENIENT
        )
        with peak_memory.watch() as stream_peak:
            loaded = stream.load()
        del loaded, stream
        depth = waybill.inspect(data)["payload"]["statistics"]["depth"]
        row = name, len(data), peak.bytes, estimate(data), depth, stream_peak.bytes
        print(repr(row), flush=True)


if __name__ == "__main__":
    sys.exit(main())
