"""What comparing keys takes is counted by pairs: never less than Python takes."""

import random
import struct

import pytest
import waybill
from waybill import DATA_ONLY
from waybill.security import STRICT_LIMITS

pytest.importorskip("xxhash")
pytest.importorskip("msgpack")

import bombs  # noqa: E402
from bombs import NODE, P  # noqa: E402
from policy_payloads import output_of_loading  # noqa: E402

USUAL = 256  # Steps of each key that do not count.


@pytest.mark.parametrize("in_tuples", [False, True])
@pytest.mark.parametrize("levels", [6, 9, 15])
def test_frozen_sets_whose_look_ups_meet_one_place_again_are_refused(levels, in_tuples):
    data = bombs.frozen_sets_compared_often(levels, in_tuples=in_tuples)

    words = output_of_loading(data)

    assert len(data) < 450
    assert "limit_exceeded" in words and "max_key_steps" in words


def test_text_in_a_set_hides_no_meetings():
    def steps(texts):
        data = bombs.frozen_sets_compared_often(3, beside=texts)
        return least(data, lambda limit: loads_within(data, limit))

    assert steps([b"%02d" % i for i in range(10)]) > steps([])


def test_keys_that_come_twice_hide_no_table_size():
    # Each 0 that comes again leaves a set as small as it is, where these collide.
    again = b"\x00" * 40_000
    chosen = b"".join(b"\xcf" + struct.pack(">Q", i << 17) for i in range(1, 3000))
    count = struct.pack(">I", 1 + 40_000 + 2999)
    data = bombs.sealed(b"\xdd" + count + NODE + b"\x02" + again + chosen)
    alone = bombs.sealed(
        b"\xdd" + struct.pack(">I", 3001) + NODE + b"\x02\x00" + chosen
    )

    def steps(payload):
        return least(payload, lambda limit: loads_within(payload, limit))

    assert steps(data) == steps(alone)


class Counted:
    """A number that counts how often any of its kind is compared."""

    comparisons = 0

    def __init__(self, number):
        self.number = number

    def __hash__(self):
        return hash(self.number)

    def __eq__(self, other):
        Counted.comparisons += 1
        return self.number == other.number


class Shape:
    """A nest of tuples and frozensets, of which any two copies have one hash."""

    def __init__(self, choose, levels):
        kinds = ["tuple", "frozen", *["chosen"] * 4] if levels else ["leaf"]
        self.kind, self.base = choose.choice(kinds), choose.choice([5, 6, 13, 1 << 20])
        count = choose.choice([1, 1, 2]) if levels else 0
        self.inner = [Shape(choose, levels - 1) for _ in range(count)]
        if self.kind == "frozen":
            self.inner.append(self.inner[0])  # Two of one hash, unless they are equal.
        if self.kind == "chosen":
            del self.inner[1:]

    def copy(self, choose):
        """The bytes of one copy, and its like that counts; how many keys are in it."""
        if self.kind == "leaf":
            number = self.base + choose.choice([0, 0, 1, 2, 3]) * P
            return bombs.msgpack.packb(number), Counted(number), 0
        parts = [shape.copy(choose) for shape in self.inner]
        if self.kind == "chosen":
            partner = bombs._partner(hash(parts[0][1]), 0)
            parts.append((bombs.msgpack.packb(partner), Counted(partner), 0))
        head = bytes([0x91 + len(parts)]) + NODE
        like = tuple(part[1] for part in parts)
        keys = sum(part[2] for part in parts)
        if self.kind == "tuple":
            return head + b"\x01" + b"".join(p[0] for p in parts), like, keys
        body = head + b"\x03" + b"".join(part[0] for part in parts)
        return body, frozenset(like), keys + len(parts)


def loads_within(data, steps):
    try:
        waybill.loads(
            data, policy=DATA_ONLY, limits=STRICT_LIMITS._replace(max_key_steps=steps)
        )
    except waybill.DecodeError as error:
        assert "max_key_steps" in str(error)
        return False
    return True


def least(data, is_enough):
    """The least ceiling that a payload passes below."""
    low, high = 0, 1
    while not is_enough(high):
        low, high = high, high * 2
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low


@pytest.mark.parametrize("seed", range(150))
def test_what_is_counted_is_no_less_than_what_python_compares(seed):
    choose = random.Random(seed)
    shape = Shape(choose, choose.choice([1, 2, 3, 3, 4]))
    Counted.comparisons = 0
    copies = [shape.copy(choose) for _ in range(choose.choice([2, 3, 6]))]
    likes = set()
    for _, like, _ in copies:
        likes.add(like)
    taken = Counted.comparisons
    body = b"".join(copy[0] for copy in copies)
    data = bombs.sealed(bytes([0x91 + len(copies)]) + NODE + b"\x02" + body)

    counted = least(data, lambda steps: loads_within(data, steps))

    keys = len(copies) + sum(copy[2] for copy in copies)
    assert taken <= counted + USUAL * keys
    assert len(waybill.loads(data)) == len(likes)


def test_shapes_include_some_that_take_much():
    """So that the test above is about something."""
    most = 0
    for seed in range(150):
        choose = random.Random(seed)
        shape = Shape(choose, choose.choice([1, 2, 3, 3, 4]))
        Counted.comparisons = 0
        set([shape.copy(choose)[1] for _ in range(choose.choice([2, 3, 6]))])
        most = max(most, Counted.comparisons)

    assert most > 5000


def cells(count, span):
    choose = random.Random(count)
    return [(choose.randint(-span, span), choose.randint(-span, span))] * 1 + [
        (choose.randint(-span, span), choose.randint(-span, span))
        for _ in range(count - 1)
    ]


@pytest.mark.parametrize(
    "keys",
    [
        range(100_000),
        [i << 20 for i in range(50_000)],
        [i << 40 for i in range(50_000)],
        [float(i) for i in range(50_000)],
        [i / 3 for i in range(50_000)],
        [2.0**i for i in range(-1000, 1000)],
        [(i, str(i)) for i in range(50_000)],
        [(i % 7, i, i * i) for i in range(50_000)],
        [frozenset({i, -i}) for i in range(50_000)],
        [complex(i, j) for i in range(200) for j in range(200)],
        [-i for i in range(50_000)],
        [i * 1_000_003 for i in range(50_000)],
        [b"%d" % i for i in range(50_000)],
        [
            (x, y, z)
            for x in range(-20, 20)
            for y in range(-20, 20)
            for z in range(-9, 9)
        ],
        [frozenset(cells(12, 3)[:n]) for n in range(12)],
        [frozenset({-1, i}) for i in range(9000)]
        + [frozenset({-2, i}) for i in range(9000)],
        [frozenset({(-1, i), (-2, -i)}) for i in range(9000)],
        [
            (frozenset({(x, y), (y, x)}), x)
            for x in range(-60, 60)
            for y in range(-60, 60)
        ],
        [
            frozenset({frozenset({x}), frozenset({y})})
            for x in range(60)
            for y in range(60)
        ],
        [
            *map(str, range(5000)),
            *((x, y) for x in range(-50, 50) for y in range(-50, 50)),
        ],
        [frozenset(range(i, i + 2000)) for i in range(50)],
    ],
    ids=lambda keys: repr(list(keys)[:3])[:40],
)
def test_thousands_of_ordinary_keys_pass(keys):
    as_dict, as_set = dict.fromkeys(keys, 0), set(keys)

    assert waybill.loads(waybill.dumps(as_dict), policy=DATA_ONLY) == as_dict
    assert waybill.loads(waybill.dumps(as_set), policy=DATA_ONLY) == as_set


def test_boards_that_differ_in_places_of_one_hash_pass():
    # hash(-1) is hash(-2), and so boards that differ in these alone have one hash.
    choose = random.Random(1)
    boards = {
        frozenset(
            (choose.randint(-4, 4), choose.choice([-1, -2, 0, 1])) for _ in range(8)
        )
        for _ in range(20_000)
    }

    assert waybill.loads(waybill.dumps(boards), policy=DATA_ONLY) == boards
