"""Plain data is built before it is verified, with the same result as afterwards."""

import math
import random
import tracemalloc

import pytest
import waybill
from mutation_worker import with_length
from refusals import refused_as
from resealing import resealed, sealed

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=40)
    | st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010), max_size=5)
    | st.binary(max_size=40)
    | st.sampled_from([..., NotImplemented, 2**2000, -(2**700)])
    | st.sampled_from(["a", "id", "näme", "x" * 16, "x" * 17, "\0", "", "é"])
)
HASHABLE = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner),
    max_leaves=5,
)
PLAIN = st.recursive(
    LEAVES | st.binary(max_size=300).map(bytearray),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(HASHABLE, inner)
        | st.sets(HASHABLE)
        | st.frozensets(HASHABLE)
    ),
    max_leaves=40,
)


def verified_first(data):
    """What is made of it in a stream, where all is verified first and noted."""
    return waybill._core.decode(data, {"history": []})


def outcome(load, data):
    try:
        return "value", shape(load(data))
    except waybill.DecodeError as error:
        return "error", error.code, error.offset, str(error)


def shape(value, seen=None):
    """Types, values and identities, in a form that compares floats by their bits."""
    seen = {} if seen is None else seen
    if isinstance(value, float):
        return "float", value.hex(), math.copysign(1, value)
    if isinstance(value, complex):
        return "complex", shape(value.real), shape(value.imag)
    if isinstance(value, bytearray):
        return "bytearray", seen.setdefault(id(value), len(seen)), bytes(value)
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        if id(value) in seen:
            return "seen", seen[id(value)]
        seen[id(value)] = len(seen)
    if isinstance(value, dict):
        return "dict", [(shape(k, seen), shape(v, seen)) for k, v in value.items()]
    if isinstance(value, (set, frozenset)):
        # Not in the set's own order, which differs: the hash of a NaN is its address.
        ordered = sorted(value, key=lambda v: repr(shape(v, {})))
        return type(value).__name__, [shape(v, seen) for v in ordered]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shape(v, seen) for v in value]
    return type(value).__name__, value


@hypothesis.given(PLAIN)
def test_unverified_data_arrives_as_it_was(value):
    data = waybill.dumps(value)

    assert outcome(waybill.loads, data) == outcome(verified_first, data)
    assert waybill.dumps(waybill.loads(data)) == data


HEADS = 0, 0x80, 0x90, 0x93, 0xC0, 0xC1, 0xC7, 0xD4, 0xD9, 0xDF

SHARED = [1, {"k": "v"}, {3}]
CYCLE = {"list": [1.5]}
CYCLE["list"].append(CYCLE)
TUPLE = (1, [2])
TUPLE[1].append(TUPLE)

BYTES = bytearray(b"shared")

SAMPLES = [
    [SHARED, SHARED, (SHARED, "x" * 100, "x" * 100), SHARED[1], SHARED[2]],
    CYCLE,
    TUPLE,
    [TUPLE, TUPLE],
    [frozenset([1, (2, 3)])] * 2,
    [
        {"id": i, "name": f"n{i}", "score": i / 3, "tags": ["new", None]}
        for i in range(9)
    ],
    [
        0,
        -1,
        127,
        128,
        -33,
        -129,
        2**15,
        2**31,
        -(2**31) - 1,
        2**63 - 1,
        2**64 - 1,
        2**64,
    ],
    [1.5, float("nan"), float("inf"), -0.0, 1e300],
    {"": "", "ü": b"", b"k": (), (): [], frozenset(): {}, None: set(), 1.5: True},
    [[[[]]], ((),), {"a": {"b": {}}}],
    [2**64, -(2**63) - 1, 2**300, 1j, complex(-0.0, 1), "\ud800", ..., NotImplemented],
    [BYTES, BYTES, bytearray(), bytearray(b"x" * 300), (bytearray(b"y"),)],
    {2**70: 1, 1j: 2, "\udc80": 3, ...: [4], (2**70, 1j): bytearray(b"z")},
]


@pytest.mark.parametrize("value", SAMPLES, ids=range(len(SAMPLES)))
def test_sharing_and_cycles_are_those_of_verified_data(value):
    data = waybill.dumps(value)

    assert outcome(waybill.loads, data) == outcome(verified_first, data)


def demand_same_end_when_spoiled(data, samples):
    """Each byte of a payload becomes each that starts a value, and `samples` others."""
    at = waybill.inspect(data)["sections"]
    start, end = at["shared"]["offset"], at["debug_info"]["offset"]
    chance = random.Random(1)
    for place in range(start, end):
        for byte in {*HEADS, *chance.sample(range(256), samples)}:
            spoiled = data[:place] + bytes([byte]) + data[place + 1 :]
            spoiled = resealed(spoiled, end + 1)
            assert outcome(waybill.loads, spoiled) == outcome(verified_first, spoiled)


@pytest.mark.parametrize("value", SAMPLES, ids=range(len(SAMPLES)))
def test_spoiled_plain_data_ends_as_verified_data(value):
    demand_same_end_when_spoiled(waybill.dumps(value), 6)


def test_float_of_four_bytes_from_another_writer_arrives():
    assert waybill.loads(sealed(b"\xca\x3f\xc0\x00\x00")) == 1.5


@pytest.mark.parametrize("content", [0xC0, 0xC1, 0xC2, 0xC3, 0x01, 0xA0])
@pytest.mark.parametrize("load", [waybill.loads, verified_first])
def test_byte_arrays_of_something_else_are_refused(content, load):
    with pytest.raises(waybill.DecodeError):
        load(sealed(b"\x92\xd4\x00\x04" + bytes([content])))


def test_integers_in_longer_forms_than_needed_arrive():
    forms = (
        b"\xcc\x01\xcd\0\x01\xce\0\0\0\x01\xcf\0\0\0\0\0\0\0\x01\xd0\xff\xd1\xff\xff"
    )
    forms += b"\xd2\xff\xff\xff\xff\xd3" + b"\xff" * 8

    assert waybill.loads(sealed(b"\x98" + forms)) == [1] * 4 + [-1] * 4


def tuples(depth):
    value = 1
    for _ in range(depth):
        value = (value,)
    return value


@pytest.mark.parametrize(
    "make", [lambda v: {v: 1}, lambda v: {v}, lambda v: [{(v,): 1}]]
)
@pytest.mark.parametrize("load", [waybill.loads, verified_first])
def test_keys_that_cannot_be_hashed_safely_are_refused(make, load):
    assert load(waybill.dumps(make(tuples(900)))) == make(tuples(900))
    for depth in 1_001, 50_000:
        data = waybill.dumps(make(tuples(depth)))
        with refused_as("limit_exceeded"):
            load(data)


@pytest.mark.once
@pytest.mark.parametrize("load", [waybill.loads, verified_first])
@pytest.mark.parametrize("around", [b"\x81", b"\x92\xd4\x00\x02", b"\x92\xd4\x00\x03"])
def test_keys_that_would_exhaust_any_stack_are_refused(around, load):
    deep = b"\x92\xd4\x00\x01" * 1_000_000 + b"\x01"
    data = sealed(around + deep + (b"\x01" if around == b"\x81" else b""))

    with refused_as("limit_exceeded"):
        load(data)


@pytest.mark.parametrize("load", [waybill.loads, verified_first])
def test_keys_that_are_deep_by_references_are_refused(load):
    # Each tuple holds the one before; none is deep where it stands.
    chain = [()]
    for _ in range(50_000):
        chain.append((chain[-1],))
    data = waybill.dumps([chain, {chain[-1]}])

    with refused_as("limit_exceeded"):
        load(data)


def test_deep_values_are_no_keys_and_arrive():
    arrived = waybill.loads(waybill.dumps({"key": tuples(50_000)}))["key"]

    depth = 0
    while arrived != 1:
        (arrived,), depth = arrived, depth + 1
    assert depth == 50_000


@pytest.mark.parametrize(
    "payload",
    ["92d4000292d40001d40100", "8192d40001d4010001", "92d4000392d40001d40100"],
    ids=["item of a set", "key", "item of a frozenset"],
)
def test_tuple_that_holds_itself_is_refused(payload):
    payload = bytes.fromhex(payload)
    tuple_at = payload.rindex(b"\x92\xd4\x00\x01")

    with refused_as("bad_reference"):
        waybill.loads(sealed_with([tuple_at], payload))


def sealed_with(shared, payload):
    """An envelope with this payload and these shared positions."""
    empty = waybill.dumps(None)
    at = waybill.inspect(empty)["sections"]["shared"]["offset"]
    body = bytes([0x90 + len(shared), *shared]) + with_length(payload) + b"\x80"
    return resealed(empty[:at] + body + empty[at + 4 :], at + len(body))


@pytest.mark.parametrize("head", [b"\xdd", b"\xdf", b"\x92\xdd", b"\x82\xa1a\xdf"])
def test_containers_that_claim_all_that_is_left_reserve_it_once(head):
    # Each is inside the one before: reserving what each claims would take terabytes.
    claim = head + (400_000).to_bytes(4, "big")
    data = sealed(claim * (1_000_000 // len(claim)))

    tracemalloc.start()
    try:
        with pytest.raises(waybill.DecodeError):
            waybill.loads(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 100_000_000
