"""Builtin values arrive with their exact type and content."""

import math
import struct

import pytest
import repeats
import waybill
from claims_in_text import look_at_round_trip, read_claims
from hypothesis import given, settings
from hypothesis import strategies as st
from images import image
from sources import define, round_trip

EDGES = [2**k for k in (7, 8, 15, 16, 31, 32, 53, 62, 63, 64, 65, 70, 127, 128, 1000)]
NEAR = [edge + by for edge in EDGES for by in (-1, 0, 1)]
INTEGERS = [0, 1, -1, *NEAR, *(-number for number in NEAR)]
FLOATS = [0.0, -0.0, 1.5, -1e308, 5e-324, float("inf"), float("-inf"), float("nan")]
FLOATS += struct.unpack("<d", bytes.fromhex("010000000000fcff"))  # A NaN like no other.
TEXTS = ["", "a", "ä", "\0", "\ud800", "\udfff\ud800", "😀", "a" * 31, "a" * 32]
TEXTS += ["a" * 255, "a" * 256, "ü" * 70000]
BLOBS = [b"", b"\0\xff", b"x" * 255, b"x" * 256, b"x" * 65536]
CONTAINERS = [
    [], (), {}, set(), frozenset(), bytearray(),
    [1, "a", None], (1,), (1, (2, (3,))), {1: 2, "a": [], (1, 2): {}, None: True},
    {1, 2, 3}, frozenset({(1, 2), frozenset({3})}), {1.0: 1}, bytearray(b"abc"),
    list(range(70000)), {i: -i for i in range(70000)}, {True: "a", 0: "b"},
    {"\udc80": 1, "a": {"\udc80"}},
]  # fmt: skip
OTHERS = [
    None, True, False, ..., NotImplemented, 1j, complex(-0.0, float("nan")),
    complex(float("inf"), -0.0), range(0), range(1, 10, -3), range(2**70), slice(None),
    slice(1, None, 2**70), slice("a", [1], ()),
]  # fmt: skip
BUILTINS = [len, int, object, type, print, ValueError, type(None), type(...), dict.get]


def shown(value):
    text = ascii(value)
    return text if len(text) < 40 else f"{text[:20]}...{text[-10:]}"


@pytest.mark.parametrize(
    "value", INTEGERS + FLOATS + TEXTS + BLOBS + CONTAINERS + OTHERS, ids=shown
)
def test_value_arrives_to_the_last_bit(value):
    assert image(round_trip(value)) == image(value)


@pytest.mark.parametrize("value", [None, True, ..., NotImplemented, ()], ids=shown)
def test_singleton_stays_the_same_object(value):
    assert round_trip(value) is value


@pytest.mark.parametrize("value", BUILTINS, ids=shown)
def test_builtin_object_stays_the_same_object(value):
    assert round_trip([value])[0] is value


def numbers():
    """Around each power of two, of both signs, with floats and what is none between."""
    for shift in range(70):
        for near in (-1, 0, 1):
            yield from (2**shift + near, -(2**shift) - near)
        yield float(2**shift)
        if shift % 7 == 0:
            yield from (True, None, "text", -0.0, math.inf)


@pytest.mark.parametrize("kind", [list, tuple])
def test_many_numbers_have_the_bytes_that_each_has(kind):
    value = kind(numbers())

    def content(value):
        start = waybill.dumps(0).index(b"\x00\x80\xc4")
        return waybill.dumps(value)[start:-12]

    data = content(value)

    assert data.endswith(b"".join(content(item) for item in value))
    arrived = waybill.loads(waybill.dumps(value))
    assert list(map(repr, arrived)) == list(map(repr, value))


def test_order_of_dict_survives():
    value = {key: None for key in "zyxabc"}

    assert list(round_trip(value)) == list("zyxabc")


def test_bytearray_is_a_new_mutable_object():
    value = bytearray(b"abc")

    arrived = round_trip(value)
    arrived.append(100)

    assert (value, arrived) == (b"abc", b"abcd")


LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary()
    | st.complex_numbers() | st.text(st.characters()) | st.just(...)
    | st.integers(-(2**200), 2**200) | st.text(st.characters(categories=["Cs", "L"]))
)  # fmt: skip
HASHABLE = st.recursive(
    LEAVES,
    lambda items: (
        st.lists(items, max_size=4).map(tuple) | st.frozensets(items, max_size=4)
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    HASHABLE | st.binary().map(bytearray),
    lambda items: (
        st.lists(items, max_size=5)
        | st.lists(items, max_size=5).map(tuple)
        | st.dictionaries(HASHABLE, items, max_size=5)
        | st.sets(HASHABLE, max_size=5)
        | st.builds(slice, items, items, items)
    ),
    max_leaves=25,
)


@settings(max_examples=repeats.times(500), deadline=None)
@given(VALUES)
def test_any_value_arrives(value):
    assert image(round_trip(value)) == image(value)


@settings(max_examples=repeats.times(200), deadline=None)
@given(VALUES)
def test_any_value_gives_the_same_bytes_after_a_round_trip(value):
    data = waybill.dumps(value)

    assert waybill.dumps(waybill.loads(data)) == data


# ---- Cycles through objects that cannot be changed once they are made.


CYCLES = """
tuple that holds itself in a list
    value = ([],)
    value[0].append(value)
    >>> type(value) is tuple, value[0][0] is value
    True, True

tuple twice in the list that it holds
    value = ([], 7)
    value[0].extend([value, value])
    >>> value[0][0] is value, value[0][1] is value, value[1]
    True, True, 7

two tuples that hold each other
    value, right = ([],), ([],)
    value[0].append(right)
    right[0].append(value)
    >>> value[0][0][0][0] is value, value[0][0] is value
    True, False

list that holds a tuple that holds it
    value = []
    value.append((value,))
    >>> value[0][0] is value
    True

dict that is its own value
    value = {}
    value["self"] = value
    >>> value["self"] is value
    True

frozenset that holds a function whose default holds it
    def f(x=None): return x
    value = frozenset([f, 5])
    f.__defaults__ = (value,)
    >>> type(value) is frozenset, [sent() is value for sent in value - {5}]
    True, [True]

set that holds a function whose default holds it
    def f(x=None): return x
    value = {f}
    f.__defaults__ = (value,)
    >>> [sent() is value for sent in value]
    [True]

dict keyed by a tuple that is still open through a function
    def f(x=None): return x
    value = (f, 1)
    f.__defaults__ = ({value: "found"},)
    >>> value[0]()[value]
    "found"

set holding a tuple that is still open through a function
    def f(x=None): return x
    value = (f, 1)
    f.__defaults__ = ({value, "other"},)
    >>> value in value[0](), len(value[0]())
    True, 2

order of a dict survives when a key is still open
    def f(x=None): return x
    value = (f, 1)
    f.__defaults__ = ({"before": 0, value: 1, "after": 2},)
    >>> list(value[0]()) == ["before", value, "after"]
    True
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(CYCLES))
def test_cycle_arrives(source, expression, expected):
    assert look_at_round_trip(source, expression) == expected


def test_slice_that_holds_itself_arrives_or_is_refused_when_it_is_sent():
    items = []
    value = slice(items)
    items.append(value)

    try:
        data = waybill.dumps(value)
    except waybill.EncodeError:
        return

    arrived = waybill.loads(data)
    assert arrived.stop[0] is arrived
