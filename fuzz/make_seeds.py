"""Makes the seeds of the harnesses, from golden files and from objects.

    python fuzz/make_seeds.py

writes fuzz/corpus/<harness>/ for those harnesses whose seeds are not made by hand or by
tests/bytecode/make_chains.py. The same files each time, for the same CPython.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import functools
import random
import shutil
import types
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgpack
import waybill

FUZZ = Path(__file__).resolve().parent
GOLDEN = FUZZ.parent / "tests" / "golden"
#: Of fuzz/embedded/recipes.py: how many steps there are.
STEPS = 23

SHARED: list[object] = ["shared"]
LOOP: dict[str, object] = {"shared": SHARED, "again": SHARED}
LOOP["self"] = LOOP

#: Objects that call, when they are loaded, what fuzz_loads lets them call.
OBJECTS = {
    "date": datetime.date(2024, 2, 29),
    "moments": [datetime.datetime(2024, 2, 29, 1), datetime.timedelta(1, 2, 3)] * 2,
    "decimal": [decimal.Decimal("1.50"), decimal.Decimal("-Infinity")],
    "ordered": collections.OrderedDict(b=1, a=SHARED),
    "default": collections.defaultdict(list, {1: [2]}),
    "partial": functools.partial(max, 1, key=SHARED),
    "namespace": types.SimpleNamespace(a=1, b=[2]),
    "method": [].append,
    "uuid": uuid.UUID(int=1),
    "errors": [ValueError(1, SHARED), Exception()],
    "globals": [len, datetime.date, collections, decimal.Decimal.from_float],
    "alias": [list[int], dict[str, SHARED.__class__]],
    "loop": [LOOP, (LOOP, SHARED)],
    "binary": [bytearray(b"abc"), b"x" * 80, "y" * 80, 2**100, 1 - 2j, ..., "\udc80"],
    "sets": [{1, 2.5, "a"}, frozenset({(1, 2), None}), slice(1, None), range(0, 9, 2)],
}


def golden() -> Iterator[tuple[str, bytes]]:
    for path in sorted(GOLDEN.rglob("*.waybill")):
        yield path.stem, path.read_bytes()


def sections(envelope: bytes) -> list[bytes]:
    """The bytes of each section."""
    unpacker = msgpack.Unpacker(strict_map_key=False)
    unpacker.feed(envelope)
    count = unpacker.read_array_header()
    ends = [unpacker.tell()]
    for _ in range(count):
        unpacker.skip()
        ends.append(unpacker.tell())
    return [envelope[a:b] for a, b in zip(ends, ends[1:], strict=False)]


def payloads() -> Iterator[tuple[str, bytes]]:
    for name, envelope in golden():
        if not name.endswith("3.11"):
            continue
        _, _, code, shared, payload, *_ = sections(envelope)
        positions = msgpack.unpackb(shared)[:15]
        uses = min(payload.count(b"\xd4\x00\x0a") + payload.count(b"\xd4\x00\x0b"), 4)
        head = [min(code[0] & 15, 2), 0x0F, uses, len(positions)]
        yield (
            name,
            bytes(head) + b"".join(at.to_bytes(2, "big") for at in positions) + payload,
        )


def instructions() -> Iterator[tuple[str, bytes]]:
    """Those of the chains, of any version: the harness tries all."""
    for path in sorted((FUZZ / "corpus" / "chains").iterdir()):
        if path.name[0] in "acdfglmntw":
            yield path.name, path.read_bytes()[1:]


def recipes() -> Iterator[tuple[str, bytes]]:
    source = random.Random(1)
    for step in range(STEPS):
        yield f"step-{step:02}", bytes([step]) + source.randbytes(24)
    for number in range(8):
        yield f"mixed-{number:02}", source.randbytes(60 + 40 * number)


def loads() -> Iterator[tuple[str, bytes]]:
    yield from golden()
    for name, made in OBJECTS.items():
        yield name, waybill.dumps(made)


def main() -> None:
    for harness, seeds in {
        "payload": payloads(),
        "instructions": instructions(),
        "round_trip": recipes(),
        "loads": loads(),
    }.items():
        folder = FUZZ / "corpus" / harness
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        size = 0
        for name, seed in seeds:
            (folder / name).write_bytes(seed)
            size += len(seed)
        print(f"{harness}: {len(list(folder.iterdir()))} seeds, {size} bytes")


if __name__ == "__main__":
    main()
