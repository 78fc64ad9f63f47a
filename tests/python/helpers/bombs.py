"""Small payloads that claim huge lengths, or would take much memory or time."""

import struct

import msgpack
import waybill
from mutation_worker import resealed, sealed

NODE = b"\xd4\x00"
P = 2**61 - 1  # Python's ints that differ by this have one hash.


def claim(lead, count):
    return lead + struct.pack(">I", count)


def shared_tuples(levels):
    """Nested tuples, the last of which takes 2**levels steps to hash."""
    tuples = [()]
    for _ in range(levels):
        tuples.append((tuples[-1], tuples[-1], 0))
    return tuples


def shared_lists(levels):
    inner = ["lol"]
    for _ in range(levels):
        inner = [inner, inner]
    return inner


def colliding_tuples(count):
    """Pairs of ints with one hash: the second lane undoes what the first one did."""
    p1, p2, p5 = 11400714785074694791, 14029467366897019727, 2870177450012600261
    mask = (1 << 64) - 1
    inverse = pow(p2, -1, 1 << 64)

    def after_first(lane):
        accumulated = (p5 + lane * p2) & mask
        accumulated = ((accumulated << 31) | (accumulated >> 33)) & mask
        return accumulated * p1 & mask

    target = after_first(0) + 12345 * p2
    found, first = [], 0
    while len(found) < count:
        second = (target - after_first(first)) * inverse & mask
        if second < P:
            found.append((first, second))
        first += 1
    assert len({hash(pair) for pair in found}) == 1
    return found


BOMBS = {
    "claim of 2**32 - 1 items": (claim(b"\xdd", 2**32 - 1), "truncated"),
    "claim of 2**32 - 1 pairs": (claim(b"\xdf", 2**32 - 1), "truncated"),
    "claim of 2**32 - 1 bytes": (claim(b"\xc6", 2**32 - 1), "truncated"),
    "claim of 2**32 - 1 characters": (claim(b"\xdb", 2**32 - 1), "truncated"),
    "claim of 2**32 - 1 bytes of an int": (
        claim(b"\xc9", 2**32 - 1) + b"\x03",
        "trunc",
    ),
    "claims inside each other": (claim(b"\xdd", 500_000) * 500, "truncated"),
    "depth": (b"\x91" * 900_000 + b"\xc0", "max_depth"),
    "depth of dicts": (b"\x81\x01" * 400_000 + b"\xc0", "max_depth"),
    "depth of tuples": ((b"\x92" + NODE + b"\x01") * 200_000 + b"\xc0", "max_depth"),
    "depth of keys": (b"\x81" * 100_000 + b"\xc0" * 100_001, "max_depth"),
    "references": (lambda: shared_lists(60), "max_unfolded"),
    "references in a key": (lambda: {shared_tuples(60)[-1]: 1}, "max_unfolded"),
    "references in a set": (lambda: set(shared_tuples(60)), "max_unfolded"),
    "duplicate keys": (b"\x82\xa1a\x01\xa1a\x02", "two equal keys"),
    "duplicate numbers as keys": (
        b"\x82\x01\x01\xcb" + struct.pack(">d", 1.0) + b"\x02",
        "two equal keys",
    ),
    "duplicate constants as keys": (
        b"\x82\xd4\x06\x00\x01\xd4\x06\x00\x02",
        "two equal keys",
    ),
    "duplicate tuples as keys": (
        b"\x82\x92" + NODE + b"\x01\x01\x01\x92" + NODE + b"\x01\x01\x02",
        "two equal keys",
    ),
    "NaN as a key": (b"\x81\xcb" + struct.pack(">d", float("nan")) + b"\x01", "NaN"),
    "NaN in a set": (lambda: {float("nan")}, "NaN"),
    "list as a key": (b"\x81\x90\x01", "cannot be hashed"),
    "dict in a set": (b"\x92" + NODE + b"\x02\x80", "cannot be hashed"),
    "list in a tuple as a key": (
        b"\x81\x92" + NODE + b"\x01\x90\x01",
        "cannot be hash",
    ),
    "ints that collide": (lambda: dict.fromkeys(i * P for i in range(20_000)), "steps"),
    "ints that collide in a set": (lambda: {i * P for i in range(20_000)}, "steps"),
    "ints that collide in a frozenset": (
        lambda: frozenset(i * P for i in range(5000)),
        "steps",
    ),
    "tuples that collide": (lambda: dict.fromkeys(colliding_tuples(5000)), "steps"),
    "complex numbers that collide": (
        lambda: dict.fromkeys(complex(1000003.0 * i, -float(i)) for i in range(5000)),
        "steps",
    ),
}


def keyed_by_shared_tuples(levels, is_set):
    """The payload of a dict or set with a key that Python would hash for years."""
    tuples = shared_tuples(levels)
    data = bytearray(waybill.dumps(tuples[-1]))
    sections = waybill.inspect(bytes(data))["sections"]
    offsets = {name: part["offset"] for name, part in sections.items()}
    head = b"\x92" + NODE + b"\x02" if is_set else b"\x81"
    tail = b"" if is_set else b"\x01"
    # The head moves all positions.
    positions = bytes(data[offsets["shared"] : offsets["payload_length"]])
    moved = msgpack.packb([at + len(head) for at in msgpack.unpackb(positions)])
    inner = bytes(data[offsets["payload"] : offsets["debug_info"]])
    whole = (
        bytes(data[: offsets["shared"]])
        + moved
        + msgpack.packb(len(head + inner + tail))
        + (head + inner + tail)
        + bytes(data[offsets["debug_info"] :])
    )
    end = len(whole) - (len(data) - offsets["digest"])
    return resealed(whole, end)


def payload(name):
    """The bomb of this name."""
    source = BOMBS[name][0]
    if name.startswith("references in a"):
        return keyed_by_shared_tuples(60, is_set=name.endswith("set"))
    return sealed(source) if isinstance(source, bytes) else waybill.dumps(source())


def envelope(payload, shared):
    """An envelope with this payload, and the positions that its references mean."""
    empty = waybill.dumps(None)
    sections = waybill.inspect(empty)["sections"]
    offsets = {name: part["offset"] for name, part in sections.items()}
    whole = (
        empty[: offsets["shared"]]
        + msgpack.packb(shared)
        + msgpack.packb(len(payload))
        + payload
        + empty[offsets["debug_info"] : offsets["digest"]]
    )
    return resealed(whole + empty[offsets["digest"] :], len(whole))


class _Hashed:
    """An object with this hash."""

    def __init__(self, hashed):
        self.hashed = hashed

    def __hash__(self):
        return self.hashed


def frozen_sets_that_collide(levels, width=8):
    """A set of frozensets of frozensets of …, all of one hash: comparing two of them
    compares all their items with each other, and so on at each level. A level takes
    some hundred bytes, since items are references."""
    tail = (1 << 20) | 7  # Comes last in a small table.
    out, shared, hashed = bytearray([0x90 | (levels + 1)]), [], 5

    def put_items(level):
        for variant in range(width):
            if level == 0:
                out.extend(msgpack.packb(5 + variant * P))
            else:
                out.extend(b"\xd4\x01" + bytes([(level - 1) * width + variant]))

    many = bytes([0x90 | (width + 1)]) + NODE
    for level in range(levels):
        out.append(0x90 | width)
        for variant in range(width):
            shared.append(len(out))
            out.extend(b"\x93" + NODE + b"\x03" + many + b"\x03")
            put_items(level)
            out.extend(msgpack.packb(tail + variant * P))
        inner = hash(frozenset(_Hashed(hashed) for _ in range(width)))
        assert inner & 7 != tail & 7
        hashed = hash(frozenset([_Hashed(inner), _Hashed(tail)]))
    out.extend(many + b"\x02")
    put_items(levels)
    return envelope(bytes(out), shared)


def nested_over_payloads(tag, tail, each, payloads):
    """A stream of payloads. Each wraps the object of the payload before in `each` nodes
    with this tag, which have `tail` after that object."""
    head = bytes([0x92 + len(tail)]) + NODE + tag
    stream = sealed(head * each + b"\xc0" + tail * each)
    for number in range(payloads - 1):
        before = b"\x93" + NODE + b"\x15" + msgpack.packb(number) + b"\x00"
        stream += sealed(head * each + before + tail * each)
    return stream


def equal_frozen_sets(levels):
    """A set of two equal frozensets, whose parts refer to each smaller part twice."""
    out, places, shared = bytearray(b"\x93"), {}, {}

    def refer(part):
        number = shared.setdefault(places[part], len(shared))
        return b"\xd4\x01" + bytes([number])

    for chain in range(2):
        out.extend(b"\xdc" + struct.pack(">H", levels + 1))
        for level in range(levels + 1):
            places[chain, level] = len(out)
            if level == 0:
                out.extend(b"\x92" + NODE + b"\x03\x01")
                continue
            part = refer((chain, level - 1))  # {part, (part,)}
            out.extend(b"\x93" + NODE + b"\x03" + part)
            out.extend(b"\x92" + NODE + b"\x01" + part)
    out.extend(b"\x93" + NODE + b"\x02" + refer((0, levels)) + refer((1, levels)))
    return envelope(bytes(out), list(shared))


MASK = 2**64 - 1
SCATTER = 3644798167  # Constants of the hash of a frozenset.
SPREAD, PAIR = 69069, 1927868237


def _scattered(hashed):
    hashed &= MASK
    return ((hashed ^ 89869747) ^ (hashed << 16 & MASK)) * SCATTER & MASK


def _hash_of_partner(inner, wanted):
    """The hash of an item whose frozenset with an item of the hash `inner` has the hash
    `wanted`; None if no int has that hash."""
    mixed = hashed = (wanted - 907133923) * pow(SPREAD, -1, MASK + 1) & MASK
    for _ in range(8):
        hashed = mixed ^ hashed >> 11 ^ hashed >> 25
    item = hashed ^ (3 * PAIR & MASK) ^ _scattered(inner)
    whole = partner = (item * pow(SCATTER, -1, MASK + 1) & MASK) ^ 89869747
    for _ in range(4):
        partner = whole ^ (partner << 16 & MASK)
    partner -= (partner >> 63) << 64
    return partner if -P < partner < P and partner != -1 else None


def _returning_hash(slot, rest):
    """A hash whose probes return to this slot of a table of eight twelve times. `rest`
    chooses one of these hashes."""
    hashed = slot
    for jump in range(1, 13):
        hashed |= (-4 * slot - 1 & 7) << 5 * jump
    for bit, place in enumerate(p for p in range(3, 60) if p % 5 > 2):
        hashed |= (rest >> bit & 1) << place
    return hashed


def _partner(inner, seen):
    """An int whose frozenset with an item of the hash `inner` has a hash whose probes
    return to one slot. The int and the item have different slots."""
    for rest in range(seen, seen + 10_000):
        for slot in range(8):
            partner = _hash_of_partner(inner, _returning_hash(slot, rest))
            if partner is not None and partner & 7 != inner & 7:
                return partner
    raise AssertionError("no int has such a hash")


def frozen_sets_compared_often(levels, *, in_tuples=False, beside=()):
    """A set of the items `beside` and two frozensets of frozensets of …, unequal and of
    one hash. Each has one frozenset and one int. Looking up the inner frozenset of one
    in the other finds the other's thirteen times, and compares the two each time."""
    pair, seen = (5, 5 + P), 0
    bodies = [msgpack.packb(item) for item in pair]
    objects = list(pair)
    for _ in range(levels):
        partner = _partner(hash(objects[0]), seen)
        frozen = b"\x93" + NODE + b"\x03"
        bodies = [frozen + body + msgpack.packb(partner) for body in bodies]
        # An object with the hash of both bodies.
        objects = [frozenset([_Hashed(hash(objects[0])), partner])] * 2
    if in_tuples:
        bodies = [b"\x93" + NODE + b"\x01" + body + b"\x07" for body in bodies]
        return sealed(b"\x82" + b"\x01".join(bodies) + b"\x01")
    items = [*map(msgpack.packb, beside), *bodies]
    return sealed(bytes([0x91 + len(items)]) + NODE + b"\x02" + b"".join(items))
