"""Makes the seeds of the harnesses, from golden files and from objects.

    python fuzz/make_seeds.py

writes fuzz/corpus/<harness>/ for payload, value, instructions, round_trip, policy,
signature, compression, sources and loads, to which loads_data links; and from
src/wire/format.h fuzz/payload.dict, to which others link. Writes the same files each
time, for the same CPython.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import functools
import itertools
import random
import re
import shutil
import sys
import types
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgpack
import waybill

FUZZ = Path(__file__).resolve().parent
GOLDEN = FUZZ.parent / "tests" / "golden"
FORMAT = FUZZ.parent / "src" / "wire" / "format.h"

sys.path.insert(0, str(FUZZ / "embedded"))
from blueprints import STEPS  # noqa: E402

#: The key of the sources in the debug information.
SOURCES = 1

SHARED: list[object] = ["shared"]
LOOP: dict[str, object] = {"shared": SHARED, "again": SHARED}
LOOP["self"] = LOOP

#: Objects whose loading calls only callables that fuzz_loads allows.
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


def scaled(values: list[float], by: float = 0.5) -> float:
    """Text."""
    return sum(values) * by


class Counter:
    def __init__(self) -> None:
        self.__count = 0

    def next(self) -> int:
        self.__count += 1
        return super().__hash__() + self.__count


#: Functions that are sent with source, in texts that are compressed and texts that are
#: not. None has nested code, because the harness has two code bodies.
WITH_SOURCE = {
    "function": [scaled],
    "lambda": [lambda x, y=1: x + y],
    "two": [scaled, lambda: scaled([1.0])],
    "methods": [Counter.__init__, Counter.next],
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
    return [envelope[a:b] for a, b in itertools.pairwise(ends)]


def payloads() -> Iterator[tuple[str, bytes]]:
    for name, envelope in golden():
        if not name.endswith("3.11"):
            continue
        _, _, code, shared, _, payload, *_ = sections(envelope)
        positions = msgpack.unpackb(shared)[:15]
        uses = min(payload.count(b"\xd4\x00\x0a") + payload.count(b"\xd4\x00\x0b"), 4)
        head = [min(code[0] & 15, 2), 0x0F, uses, len(positions)]
        yield (
            name,
            bytes(head) + b"".join(at.to_bytes(2, "big") for at in positions) + payload,
        )
    stored = [b"\x92\xd4\x00\x17" + bytes([number]) for number in (0, 1, 2, 0)]
    yield "stored-buffers", bytes([0, 0, 0, 0x30]) + b"\x94" + b"".join(stored)


def values() -> Iterator[tuple[str, bytes]]:
    """Plain data, some of which refers to itself."""
    sent = {name: waybill.dumps(OBJECTS[name]) for name in ("loop", "binary", "sets")}
    sent["shared"] = waybill.dumps([SHARED, {"a": SHARED, (1, 2.5): [SHARED]}])
    sent["data"] = (GOLDEN / "v1" / "data-3.11.waybill").read_bytes()
    for name, envelope in sent.items():
        _, _, _, shared, _, payload, *_ = sections(envelope)
        positions = msgpack.unpackb(shared)
        head = b"".join(at.to_bytes(2, "big") for at in positions)
        yield name, bytes([len(positions)]) + head + payload


def instructions() -> Iterator[tuple[str, bytes]]:
    """Seeds of the harness for chains, without the version: this harness tries all."""
    for path in sorted((FUZZ / "corpus" / "chains").iterdir()):
        if path.name[0] in "acdfglmntw":
            yield path.name, path.read_bytes()[1:]


def blueprints() -> Iterator[tuple[str, bytes]]:
    source = random.Random(1)
    for step in range(len(STEPS)):
        yield f"step-{step:02}", bytes([step]) + source.randbytes(24)
    for number in range(8):
        yield f"mixed-{number:02}", source.randbytes(60 + 40 * number)


def loads() -> Iterator[tuple[str, bytes]]:
    yield from golden()
    for name, value in OBJECTS.items():
        yield name, waybill.dumps(value)
    compressed = [bytes(70_000), bytearray(b"ab" * 35_000)]
    yield "compressed", waybill.dumps(compressed, compress="zstd")


def compressions() -> Iterator[tuple[str, bytes]]:
    """Frames with the size of an item and the length that belong to them."""
    contents = {
        "zeros": bytes(70_000),
        "text": b"".join(b"line %d\n" % i for i in range(8_000)),
        "numbers": b"".join((3 * i).to_bytes(8, "little") for i in range(10_000)),
        "blocks": bytes(2_500_000),
    }
    for name, content in contents.items():
        data = waybill.dumps(content, compress="zstd")
        row = waybill.inspect(data)["buffers"][0]
        compression = row["compression"]
        head = [
            compression["item_size"].bit_length() - 1,
            *len(content).to_bytes(3, "big"),
        ]
        end = row["offset"] + compression["stored_length"]
        yield name, bytes(head) + data[row["offset"] : end]


def sources() -> Iterator[tuple[str, bytes]]:
    """The value of the sources, after a byte with the number of uses of code."""
    for name, functions in WITH_SOURCE.items():
        *_, debug_info, _, _ = sections(waybill.dumps(functions, source=True))
        unpacker = msgpack.Unpacker(strict_map_key=False)
        unpacker.feed(debug_info)
        for _ in range(unpacker.read_map_header()):
            key = unpacker.unpack()
            start = unpacker.tell()
            unpacker.skip()
            if key == SOURCES:
                yield name, bytes([2]) + debug_info[start : unpacker.tell()]
    generated = [0, 0, 0, 4, "__init__", "C.__init__", None, 0, 0, 0, 0, [], [], []]
    ids = [bytes(16), bytes(range(16))]
    for name, texts in {"plain": "", "damaged": [300, b"(\xb5/\xfd"]}.items():
        yield name, bytes([1]) + msgpack.packb([texts, [generated], [ids]])


def policies() -> Iterator[tuple[str, bytes]]:
    """Golden files, each with one of the policies in turn."""
    rules = [
        "allow call json.*:loads\nallow code",
        "deny import os.*\nallow call *\nallow code",
        "allow lookup json:JSONDecoder.*\n# all\nallow import *",
        waybill.security.STANDARD_TYPES.rules,
        "",
    ]
    files = [pair for pair in golden() if pair[0].endswith("3.11")]
    for number, (name, envelope) in enumerate(files):
        text = rules[number % len(rules)]
        yield name, text.encode() + b"\0" + envelope


def signatures() -> Iterator[tuple[str, bytes]]:
    """Key texts and golden files, for both algorithms."""
    secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    for number, kind in enumerate(("mac", "ed25519-public", "ed25519-private")):
        text = f"# a key\nwaybill-{kind}:{secret}\n"
        yield kind, bytes([number, 0, 7]) + text.encode()
    for number, (name, envelope) in enumerate(golden()):
        if name.endswith("3.11"):
            yield name, bytes([number, 1, 9]) + envelope


def enumerators(name: str) -> Iterator[tuple[str, int]]:
    """Names and numbers of an enumeration of the format."""
    body = re.search(rf"enum class {name}.*?{{(.*?)}};", FORMAT.read_text(), re.DOTALL)
    assert body, name
    for found in re.finditer(r"^\s*(k\w+) =\s+(\d+),", body[1], re.MULTILINE):
        yield found[1], int(found[2])


def dictionary_entries() -> Iterator[tuple[str, bytes]]:
    """Pieces of wire formats for mutations: a readable name, and the bytes."""
    for number in (0xC0, 0xC2, 0xC3, 0xC4, 0xCA, 0xCB, 0xCD, 0xCF, 0xD3, 0xD9, 0xDC):
        yield f"lead_{number:02x}", bytes([number])
    for number in (0x80, 0x81, 0x90, 0x91, 0x92, 0x93, 0xA1):
        yield f"lead_{number:02x}", bytes([number])
    yield "mark", b"\x99\x95\xa2wb\x01"
    yield "mark_of_buffers", b"\x9a\x95\xa2wb\x01"
    yield "definitions", b"\x94\xd4\x00\x18\x00\x91"
    for name, number in enumerators("NodeTag"):
        yield f"node_{name}", b"\xd4\x00" + bytes([number])
    for name, number in enumerators("ExtType"):
        yield f"fixext_{name}", b"\xd4" + bytes([number, 0])
        yield f"ext8_{name}", b"\xc7\x01" + bytes([number])
    yield "array16", b"\xdc\x00\x02"
    yield "array32", b"\xdd\x00\x00\x00\x01"
    yield "map16", b"\xde\x00\x01"
    yield "huge_array", b"\xdd\xff\xff\xff\xff"
    yield "huge_binary", b"\xc6\xff\xff\xff\xff"
    yield "surrogate", b"\xed\xb2\x80"
    for text in ("__main__", "__name__", "object", "getattr", "collections"):
        yield f"text_{text}", bytes([0xA0 | len(text)]) + text.encode()


def write_dictionary() -> None:
    lines = ["# Made by fuzz/make_seeds.py."]
    for name, entry in dictionary_entries():
        spelled = "".join(f"\\x{byte:02x}" for byte in entry)
        lines.append(f'{name}="{spelled}"')
    (FUZZ / "payload.dict").write_text("\n".join(lines) + "\n")
    for other in ("reader", "envelope", "value", "loads", "loads_data", "sources"):
        link = FUZZ / f"{other}.dict"
        link.unlink(missing_ok=True)
        link.symlink_to("payload.dict")


def main() -> None:
    write_dictionary()
    for harness, seeds in {
        "payload": payloads(),
        "value": values(),
        "instructions": instructions(),
        "round_trip": blueprints(),
        "loads": loads(),
        "policy": policies(),
        "signature": signatures(),
        "compression": compressions(),
        "sources": sources(),
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
