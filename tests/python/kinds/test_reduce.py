"""Objects that take themselves apart: __reduce_ex__, copyreg, state, slots."""

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import itertools
import logging
import operator
import pathlib
import pickle
import re
import types
import uuid
import zoneinfo

import pytest
import waybill
from refusals import refused_as
from sources import round_trip

# ---- The standard library

EQUAL = [
    datetime.datetime(2024, 2, 29, 12, 30, 1, 5, datetime.UTC),
    datetime.date(1, 1, 1),
    datetime.time(23, 59, 59, 999999, fold=1),
    datetime.timedelta(-1, 2, 3),
    datetime.timezone(datetime.timedelta(hours=5), "name"),
    decimal.Decimal("-1.50"),
    decimal.Decimal("-Infinity"),
    fractions.Fraction(-3, 7),
    uuid.UUID(int=2**127 + 5),
    pathlib.PurePosixPath("/a/b"),
    pathlib.PureWindowsPath("c:/a"),
    pathlib.Path("relative"),
    re.compile("a(?P<n>b)", re.I | re.S),
    re.compile(b"\xff"),
    collections.deque([1, [2], (3,)], maxlen=4),
    collections.defaultdict(list, {1: [2]}),
    collections.OrderedDict([("b", 1), ("a", 2)]),
    collections.Counter("abca"),
    collections.ChainMap({1: 2}, {3: 4}),
    array.array("d", [1.5, -2.5]),
    array.array("w" if "w" in array.typecodes else "u", "äö"),
    ipaddress.ip_network("10.0.0.0/8"),
    types.SimpleNamespace(a=1, b=[2]),
    types.MappingProxyType({"a": 1}),
    types.GenericAlias(list, (int,)),
    list[int] | None,
    dict[str, list[int]],
    itertools.count,
    operator.itemgetter(1),
    range,
    collections.abc.Mapping,
]


@pytest.mark.parametrize("value", EQUAL, ids=lambda value: repr(value)[:40])
def test_standard_object_arrives_equal(value):
    arrived = round_trip(value)

    assert type(arrived) is type(value)
    assert repr(arrived) == repr(value)
    try:
        assert arrived == value
    except AssertionError:
        assert type(value).__eq__ is object.__eq__  # Nothing to compare but the repr.


def test_ordered_dict_keeps_order_after_moves():
    sent = collections.OrderedDict.fromkeys("abc")
    sent.move_to_end("a")

    assert list(round_trip(sent)) == list("bca")


def test_zone_info_is_the_cached_one():
    try:
        sent = zoneinfo.ZoneInfo("UTC")
    except zoneinfo.ZoneInfoNotFoundError:
        pytest.skip("no time zone data")

    assert round_trip(sent) is sent


def test_logger_is_the_one_of_that_name():
    assert round_trip(logging.getLogger("a.b")) is logging.getLogger("a.b")


# ---- Exceptions


def test_exception_keeps_arguments_and_attributes():
    sent = ValueError("text", 3)
    sent.extra = [1]

    arrived = round_trip(sent)

    expected = (ValueError, ("text", 3), [1])
    assert (type(arrived), arrived.args, arrived.extra) == expected


@pytest.mark.parametrize(
    "sent",
    [
        waybill.EncodeError("text"),
        waybill.DecodeError("text"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "why"),
        StopIteration(3),
    ],
    ids=lambda error: type(error).__name__,
)
def test_exception_arrives(sent):
    arrived = round_trip(sent)

    assert type(arrived) is type(sent)
    assert arrived.args == sent.args


# ---- Importable enums, dataclasses, named tuples


class Colour(enum.Enum):
    RED = 1
    BLUE = [2]


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Level(enum.IntEnum):
    LOW = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Node:
    name: str
    next: object = None


Pair = collections.namedtuple("Pair", "left right")


@pytest.mark.parametrize("member", [Colour.RED, Colour.BLUE, Level.LOW, Right.READ])
def test_member_of_an_importable_enum_is_the_same_object(member):
    assert round_trip(member) is member


def test_combined_flag_arrives():
    assert round_trip(Right.READ | Right.WRITE) is Right.READ | Right.WRITE


def test_enum_member_as_dict_key_finds_its_value():
    assert round_trip({Colour.RED: 1})[Colour.RED] == 1


def test_frozen_dataclass_with_slots_arrives():
    assert round_trip(Point(1, [2])) == Point(1, [2])


def test_dataclass_in_a_cycle_arrives():
    sent = Node("a")
    sent.next = Node("b", sent)

    arrived = round_trip(sent)

    assert arrived.next.next is arrived


def test_named_tuple_arrives():
    arrived = round_trip(Pair(1, [2]))

    assert type(arrived) is Pair
    assert arrived == (1, [2])


# ---- Items of what is derived from lists and deques


class Watched(list):
    """Notes what is appended, which needs what __init__ sets."""

    def __init__(self):
        self.seen = []

    def append(self, item):
        self.seen.append(item)
        super().append(item)


class Stamped(collections.deque):
    def append(self, item):
        super().append(("stamped", item))


class Doubling(list):
    def extend(self, items):
        super().extend([item * 2 for item in items])


@pytest.mark.parametrize("kind", [Watched, Stamped, Doubling])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_items_are_added_as_pickle_adds_them(kind, count):
    sent = kind()
    for number in range(count):
        sent.append(number)

    arrived, expected = round_trip(sent), pickle.loads(pickle.dumps(sent))

    assert list(arrived) == list(expected)
    assert vars(arrived) == vars(expected)


# ---- State without __setstate__


class Told:
    """Its state is what the test says."""

    def __init__(self, state):
        self.state = state

    def __getstate__(self):
        return self.state


@pytest.mark.parametrize("state", [[("x", 1)], 5, 0, "", (1,), (1, {}), ({}, [1]), {1}])
def test_state_that_nothing_takes_is_refused_and_not_dropped(state):
    data = waybill.dumps([1, Told(state)])

    with refused_as("malformed", match="Told, which has no __setstate__"):
        waybill.loads(data)
    with pytest.raises(pickle.UnpicklingError, match="not a dictionary"):
        pickle.loads(pickle.dumps(Told(state)))


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (None, {}),
        (False, {}),
        ({}, {}),
        ({"x": 1}, {"x": 1}),
        (({"x": 1}, {"y": 2}), {"x": 1, "y": 2}),
        ((None, None), {}),
        (({"x": 1}, None), {"x": 1}),
    ],
)
def test_state_is_a_dict_or_two_dicts_or_none(state, expected):
    arrived = round_trip([Told(state), Told(state)])

    assert [vars(each) for each in arrived] == [expected, expected]
