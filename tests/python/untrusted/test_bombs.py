"""Small payloads that claim, or would become, very much are refused at once."""

import collections
import functools
import io
import time
import tracemalloc

import fresh_process
import pytest
import waybill
from refusals import refused_as
from waybill import DATA_ONLY
from waybill.security import STANDARD_TYPES, STRICT_LIMITS, Limits

pytest.importorskip("xxhash")
pytest.importorskip("msgpack")

import bombs  # noqa: E402

MEBIBYTE = 1 << 20
# Twice what is promised is far from both: a test asserts no time, but what explodes
# takes years.
SECONDS = 5

payload = functools.cache(bombs.payload)


@pytest.mark.parametrize("name", bombs.BOMBS)
def test_bomb_is_refused_by_name_with_little_memory(name):
    data = payload(name)
    words = bombs.BOMBS[name][1]

    tracemalloc.start()
    started = time.process_time()
    try:
        with pytest.raises(waybill.DecodeError, match=words) as caught:
            waybill.loads(data, policy=DATA_ONLY)
        seconds = time.process_time() - started
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert caught.value.code in ("truncated", "limit_exceeded", "malformed")
    assert seconds < SECONDS
    assert peak < MEBIBYTE + 4 * len(data)


@pytest.mark.parametrize("name", ["references in a key", "references in a set"])
def test_keys_that_take_forever_are_refused_on_any_terms(name):
    with pytest.raises(waybill.DecodeError, match="max_key_steps"):
        waybill.loads(payload(name))


@pytest.mark.parametrize("levels", [2, 4, 5, 7])
def test_frozen_sets_that_take_forever_to_be_compared_are_refused(levels):
    with pytest.raises(waybill.DecodeError, match="max_key_steps"):
        waybill.loads(bombs.frozen_sets_that_collide(levels), policy=DATA_ONLY)


def test_frozen_sets_that_collide_pass_within_reason():
    arrived = waybill.loads(bombs.frozen_sets_that_collide(1), policy=DATA_ONLY)

    assert len(arrived[-1]) == 8


@pytest.mark.parametrize("levels", [17, 25, 40])
def test_equal_frozen_sets_that_share_parts_are_refused(levels):
    with pytest.raises(waybill.DecodeError, match=r"max_key_steps|max_unfolded"):
        waybill.loads(bombs.equal_frozen_sets(levels), policy=DATA_ONLY)


def test_frozen_sets_too_deep_to_be_compared_are_refused_by_name():
    chain = (b"\x92" + bombs.NODE + b"\x03") * 400 + b"\x01"
    data = bombs.sealed(b"\x93" + bombs.NODE + b"\x02" + chain * 2)

    def outcome(frames_left):
        if frames_left:
            return outcome(frames_left - 1)
        try:
            return len(waybill.loads(data, policy=DATA_ONLY))
        except waybill.DecodeError as error:
            return error.code

    # Before 3.12 by Python's recursion limit, else by the steps of the comparison.
    assert outcome(700) == "limit_exceeded"


def test_frozen_sets_of_fifty_levels_are_compared():
    chain = (b"\x92" + bombs.NODE + b"\x03") * 50 + b"\x01"
    data = bombs.sealed(b"\x93" + bombs.NODE + b"\x02" + chain * 2)

    assert len(waybill.loads(data, policy=DATA_ONLY)) == 1


@pytest.mark.parametrize("levels", [12, 13])
def test_keys_that_share_parts_pass_within_reason(levels):
    data = bombs.keyed_by_shared_tuples(levels, is_set=False)

    assert len(waybill.loads(data, policy=DATA_ONLY)) == 1


def test_keys_made_for_one_size_of_table_are_refused():
    # Each probes where all before it stand: the places that 0 tries, in their order.
    mask, at, perturb, keys = (1 << 17) - 1, 0, 0, []
    seen = set()
    while len(keys) < 60_000:
        if at not in seen:
            seen.add(at)
            keys.append(at)
        at = (at * 5 + 1) & mask
    attack = keys + [(mask + 1) * i for i in range(1, 20_000)]

    with pytest.raises(waybill.DecodeError, match="max_key_steps"):
        waybill.loads(waybill.dumps(dict.fromkeys(attack)), policy=DATA_ONLY)


def test_strict_limits_are_what_data_only_goes_with():
    deep = []
    for _ in range(600):
        deep = [deep]
    data = waybill.dumps(deep)

    with pytest.raises(waybill.DecodeError, match="max_depth allows: 512"):
        waybill.loads(data, policy=DATA_ONLY)
    waybill.loads(data, policy=DATA_ONLY, limits=Limits())
    waybill.loads(data)
    with pytest.raises(waybill.DecodeError, match="max_depth allows: 512"):
        waybill.loads(data, limits=STRICT_LIMITS)


@pytest.mark.parametrize("name", Limits._fields)
def test_each_ceiling_can_be_set_for_a_call(name):
    value = {
        "text": "x" * 100,
        "items": list(range(100)),
        "deep": [[[[]]]],
        (1, (2, tuple(range(300)))): 0,
        "int": 2**100,
    }
    data = waybill.dumps(value)

    assert waybill.loads(data, limits=Limits(**{name: None})) == value
    with refused_as("limit_exceeded", match=name):
        waybill.loads(data, limits=Limits(**{name: 3}))


def test_slices_inside_each_other_are_refused_before_python_has_to_drop_them():
    # On the C stack, one inside the other.
    slices = (b"\x94" + bombs.NODE + b"\x05\xc0\xc0") * 100_000 + b"\xc0"

    with pytest.raises(waybill.DecodeError, match="slices nested more than 1000"):
        waybill.loads(bombs.sealed(slices))


def test_keys_of_earlier_payloads_are_refused_from_strangers():
    file, key = io.BytesIO(), (1, (2, 3))
    pickler = waybill.Pickler(file)
    pickler.dump([key])
    pickler.dump({key: 1})

    def second(**options):
        file.seek(0)
        unpickler = waybill.Unpickler(file, **options)
        unpickler.load()
        return unpickler.load()

    assert second() == {key: 1}
    with pytest.raises(waybill.DecodeError, match="cannot be hashed safely"):
        second(policy=DATA_ONLY)


DEEP_STREAM = """
import io, sys
import waybill
data = sys.stdin.buffer.read()
unpickler = waybill.Unpickler(
    io.BytesIO(data), policy=waybill.DATA_ONLY, limits=waybill.security.Limits()
)
try:
    while True:
        unpickler.load()
except waybill.DecodeError as error:
    print(error.code, error)
except EOFError:
    print("all is loaded")
"""


@pytest.mark.parametrize(
    ("tag", "tail", "last", "words"),
    [
        (b"\x01", b"", b"\x81%b\x01", "which cannot be hashed safely"),
        (b"\x05", b"\xc0\xc0", b"%b", "slices nested more than 1000 deep"),
    ],
    ids=["tuples", "slices"],
)
def test_what_nests_over_payloads_of_a_stream_is_refused_as_in_one(
    tag, tail, last, words
):
    stream = bombs.nested_over_payloads(tag, tail, 900, 200)
    stream += bombs.sealed(last % (b"\x93" + bombs.NODE + b"\x15\xcc\xc7\x00"))

    told = fresh_process.run_script(DEEP_STREAM, given=stream)

    assert told.startswith("limit_exceeded")
    assert words in told


def test_shared_parts_over_payloads_are_counted_as_in_one():
    file = io.BytesIO()
    pickler, part = waybill.Pickler(file), ()
    for _ in range(60):
        part = (part, part, 0)
        pickler.dump([part])
    stream = file.getvalue()
    stream += bombs.sealed(
        b"\x81\x93" + bombs.NODE + b"\x15" + bytes([59, 1]) + b"\x01"
    )
    unpickler = waybill.Unpickler(io.BytesIO(stream))
    for _ in range(60):
        unpickler.load()

    with pytest.raises(waybill.DecodeError, match="max_key_steps"):
        unpickler.load()


class Called:
    """Travels as a call of something with these arguments."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call[0], self.call[1:]


COLLIDING = [i * bombs.P for i in range(20_000)]


@pytest.mark.parametrize("kind", ["Counter", "OrderedDict", "defaultdict"])
@pytest.mark.parametrize(
    "argument",
    [
        [(key, 1) for key in COLLIDING],
        COLLIDING,
        range(0, 20_000 * bombs.P, bombs.P),
        collections.deque(COLLIDING),
    ],
    ids=["pairs", "list", "range", "deque"],
)
@pytest.mark.parametrize("times", [1, 3])
def test_dicts_do_not_get_keys_that_nobody_counts(kind, argument, times):
    callable_ = getattr(collections, kind)
    arguments = (None, argument) if kind == "defaultdict" else (argument,)
    data = waybill.dumps([Called(callable_, *arguments) for _ in range(times)])

    with refused_as("limit_exceeded", match="max_key_steps"):
        waybill.loads(data, policy=STANDARD_TYPES)


def test_dicts_of_the_standard_library_get_what_their_reducers_give():
    objects = [
        *(
            collections.Counter("aab"),
            collections.Counter({1: 2}),
            collections.Counter(),
        ),
        *(collections.OrderedDict(b=1), collections.OrderedDict()),
        *(collections.defaultdict(list, {1: [2]}), collections.defaultdict(None)),
    ]

    assert waybill.loads(waybill.dumps(objects), policy=STANDARD_TYPES) == objects


def test_range_counts_as_all_that_is_in_it():
    data = waybill.dumps([range(2**62), range(2**70)])

    assert waybill.loads(data) == [range(2**62), range(2**70)]
    with pytest.raises(waybill.DecodeError, match="max_unfolded"):
        waybill.loads(data, policy=DATA_ONLY)
    with pytest.raises(waybill.DecodeError, match="max_unfolded"):
        waybill.loads(waybill.dumps(range(2**70)), policy=DATA_ONLY)


@pytest.mark.parametrize(
    "shared, times",
    [(range(2**25), 1000), ("x" * 100_000, 20_000)],
    ids=["range", "text"],
)
def test_what_is_shared_counts_each_time(shared, times):
    data = waybill.dumps([shared] * times)

    assert len(waybill.loads(data)) == times
    with pytest.raises(waybill.DecodeError, match="max_unfolded"):
        waybill.loads(data, policy=DATA_ONLY)


def test_file_names_of_a_manifest_cannot_be_multiplied():
    msgpack = pytest.importorskip("msgpack")
    imports = [["m", 1, None, None, 0, 1]] * 10_000
    manifest = {0: imports, 1: ["f" * 100_000]}
    head = ["wb", 1, 3, 11, 0]
    packed = msgpack.packb([head, manifest, [], [], 1, None, {}, bytes(8), None])
    data = bombs.resealed(packed, len(packed) - 11)

    for attempt in waybill.inspect, waybill.loads:
        with pytest.raises(
            waybill.DecodeError, match="imports together are much longer"
        ):
            attempt(data)


def test_limits_are_numbers_or_none():
    data = waybill.dumps(1)

    for limits in (7, (1, 2), Limits(max_bytes="x"), Limits(max_bytes=-1)):
        with pytest.raises((TypeError, OverflowError, ValueError)):
            waybill.loads(data, limits=limits)
