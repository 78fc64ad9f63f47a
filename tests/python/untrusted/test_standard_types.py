"""Under strict limits, types of the standard library get what they write themselves."""

import collections
import copy
import copyreg
import datetime
import decimal
import functools
import io
import ipaddress
import pathlib
import uuid

import pytest
import waybill
from policy_payloads import Reduced, output_of_loading, refused
from refusals import refused_as
from waybill.security import (
    INSTALLED_CODE,
    STANDARD_TYPES,
    STRICT_LIMITS,
    Limits,
    Policy,
)

pytest.importorskip("xxhash")
pytest.importorskip("msgpack")

UTC = datetime.timezone.utc
OFFSET = datetime.timezone(datetime.timedelta(hours=-3, seconds=1), "name")


class NewObject:
    """Travels as an instance of another class, with this state."""

    def __init__(self, cls, state):
        self.cls, self.state = cls, state

    @property
    def __class__(self):
        return self.cls

    def __reduce_ex__(self, protocol):
        return copyreg.__newobj__, (self.cls,), self.state


def tree(levels):
    inner = ()
    for _ in range(levels):
        inner = (inner, inner)
    return inner


LONG = "x" * 1_000_000
HUGE = decimal.Decimal("1e999999999")

ATTACKS = {
    "address of a huge number": {
        NewObject(ipaddress.IPv4Address, (None, {"_ip": HUGE}))
    },
    "address with a huge number": Reduced(
        ipaddress.IPv4Address, (1,), (None, {"_ip": HUGE})
    ),
    "address of a tree": [NewObject(ipaddress.IPv6Address, (None, {"_ip": tree(22)}))],
    "deque of a range": Reduced(collections.deque, (range(2**26 - 99),)),
    "deques of one text": [Reduced(collections.deque, (LONG,)) for _ in range(50)],
    "counters of one text": [Reduced(collections.Counter, (LONG,)) for _ in range(50)],
    "counters of one dict": [
        Reduced(collections.Counter, (argument,))
        for argument in [dict.fromkeys(range(100_000))]
        for _ in range(300)
    ],
    "counter of deques": Reduced(
        collections.Counter, (collections.deque([LONG] * 50),)
    ),
    "ordered dict of a dict": Reduced(collections.OrderedDict, ({1: 2},)),
    "defaultdict of a dict": Reduced(collections.defaultdict, (None, {1: 2})),
    "deque with state": Reduced(collections.deque, (), {"a": 1}),
    "UUID of a tree": [NewObject(uuid.UUID, {"int": tree(22)})],
    "UUID with more": [NewObject(uuid.UUID, {"int": 1, "hex": 2})],
    "UUID of long text": Reduced(uuid.UUID, ("{" * 1_000_000,)),
    "UUID of a huge int": [NewObject(uuid.UUID, {"int": 2**200})],
    "path of a tree": [NewObject(pathlib.PurePosixPath, (None, {"_parts": tree(22)}))],
    "path with state": Reduced(pathlib.PurePosixPath, ("a",), (None, {"_hash": 1})),
    "path of long text": Reduced(pathlib.PurePosixPath, (LONG,) * 50),
    "path of many parts": Reduced(pathlib.PurePosixPath, ("abc",) * 2000),
    "path of much text": Reduced(pathlib.PurePosixPath, ("y" * 4000,) * 10),
    "decimal of long text": Reduced(decimal.Decimal, ("9" * 1_000_000,)),
    "decimal of a tuple": Reduced(decimal.Decimal, ((0, (1,) * 1000, 0),)),
    "date of a list": Reduced(datetime.date, ([2020], 1, 2)),
    "zone of a text": Reduced(datetime.timezone, (LONG,)),
    "address with items": Reduced(ipaddress.IPv4Address, (1,), None, iter([1])),
    "deque with pairs": Reduced(collections.deque, (), None, None, iter([(1, 2)])),
    "state by a setter": Reduced(
        collections.deque, (), {1: 2}, None, None, collections.deque
    ),
}


@functools.cache
def payload(name):
    return waybill.dumps(ATTACKS[name])


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("policy", ["STANDARD_TYPES", "INSTALLED_CODE"])
def test_what_a_type_does_not_write_itself_is_refused(name, policy):
    words = output_of_loading(payload(name), f"waybill.security.{policy}")

    assert words.startswith(("limit_exceeded", "refused")), words


def test_refusal_says_which_type_it_is_and_what_to_do():
    data = waybill.dumps(Reduced(collections.deque, ([1, 2],)))

    with refused_as("limit_exceeded", match=r"collections\.deque.*limits="):
        waybill.loads(data, policy=STANDARD_TYPES)
    arrived = waybill.loads(data, policy=STANDARD_TYPES, limits=Limits())
    assert arrived == collections.deque([1, 2])


def test_what_calls_take_in_memory_counts():
    parts = ("x" * 3000,) * 10
    paths = [Reduced(pathlib.PurePosixPath, parts) for _ in range(200)]
    data = waybill.dumps([*paths, *parts])
    limits = STRICT_LIMITS._replace(max_memory=10**7)

    assert len(data) < 20_000
    with pytest.raises(waybill.DecodeError, match="more memory than max_memory"):
        waybill.loads(data, policy=STANDARD_TYPES, limits=limits)
    assert waybill.loads(data, policy=STANDARD_TYPES)


def noted():
    made = collections.OrderedDict(b=1)
    made.note = "attribute"
    return made


OBJECTS = [
    datetime.datetime(2020, 1, 2, 3, 4, 5, 6, UTC),
    datetime.datetime(2020, 1, 2, fold=1, tzinfo=OFFSET),
    datetime.datetime.max,
    datetime.date(2020, 1, 2),
    datetime.time(1, 2, 3, tzinfo=OFFSET),
    datetime.timedelta.max,
    datetime.timedelta.min,
    OFFSET,
    decimal.Decimal("-1.50e-300"),
    decimal.Decimal("NaN"),
    decimal.Decimal("1" * 4000),
    HUGE,
    uuid.UUID(int=7),
    uuid.UUID(int=2**128 - 1),
    uuid.uuid1(),
    pathlib.PurePosixPath("a/b"),
    pathlib.PurePosixPath(),
    pathlib.PurePosixPath("/".join(["part"] * 900)),
    pathlib.PureWindowsPath("c:\\a\\b"),
    pathlib.PosixPath("/x"),
    ipaddress.ip_address("255.255.255.255"),
    ipaddress.ip_address(2**128 - 1),
    ipaddress.ip_address("fe80::1%eth0"),
    collections.deque(range(5000), maxlen=3000),
    collections.deque([collections.deque()]),
    collections.Counter("aab"),
    collections.Counter(dict.fromkeys(range(5000), 2)),
    collections.OrderedDict.fromkeys(range(5000)),
    noted(),
    collections.defaultdict(list, {1: [2]}),
    collections.defaultdict(None, {1: 2}),
]


@pytest.mark.parametrize("obj", OBJECTS, ids=lambda obj: type(obj).__name__)
def test_what_types_write_themselves_arrives(obj):
    twice = [obj, copy.deepcopy(obj), obj]

    arrived = waybill.loads(waybill.dumps(twice), policy=STANDARD_TYPES)

    assert repr(arrived) == repr(twice)
    assert arrived[0] is arrived[2]
    assert vars_of(arrived[1]) == vars_of(obj)


def vars_of(obj):
    return getattr(obj, "__dict__", None)


def test_they_arrive_as_keys_and_in_a_stream():
    keys = {obj: 1 for obj in OBJECTS if type(obj).__hash__ is not None}
    file = io.BytesIO()
    pickler = waybill.Pickler(file)
    for _ in range(2):
        pickler.dump([keys, OBJECTS])
    file.seek(0)
    unpickler = waybill.Unpickler(file, policy=STANDARD_TYPES)
    one, two = unpickler.load(), unpickler.load()

    assert len(waybill.loads(waybill.dumps(keys), policy=STANDARD_TYPES)) == len(keys)
    assert repr(one) == repr(two) == repr([keys, OBJECTS])


def test_thousands_of_them_arrive():
    objects = [
        [
            datetime.datetime(2020, 1, 1, tzinfo=UTC) + datetime.timedelta(i)
            for i in range(999)
        ],
        {decimal.Decimal(i) / 7: uuid.UUID(int=i) for i in range(3000)},
        {
            ipaddress.IPv4Address(i): pathlib.PurePosixPath(f"a/{i}")
            for i in range(3000)
        },
        [collections.Counter({i: i}) for i in range(3000)],
    ]

    assert waybill.loads(waybill.dumps(objects), policy=STANDARD_TYPES) == objects


def called(*arguments):
    """What a policy lets payloads look up, and not call."""
    raise AssertionError("was called")


LOOKUP = Policy(
    STANDARD_TYPES.rules + f"allow lookup {__name__}\nallow call {__name__}:Attributes"
)


class Attributes:
    plain = 7
    kind = list

    def method(self):
        return "method"

    @classmethod
    def made(cls):
        return cls()

    @staticmethod
    def alone():
        return "alone"


class Slots:
    __slots__ = ("value",)


@pytest.mark.parametrize("name", ["keys", "items", "__setitem__", "update"])
def test_state_puts_nothing_in_the_place_of_a_method(name):
    state = {name: called}
    attack = Reduced(collections.OrderedDict, (), state, None, iter([(1, 2)]))

    words = refused(attack, LOOKUP, limits=Limits())

    assert f"OrderedDict.{name}" in words


@pytest.mark.parametrize("name", ["method", "made", "alone", "__init__"])
@pytest.mark.parametrize(
    "form", [lambda s: s, lambda s: (None, s), lambda s: (s, None)]
)
def test_state_puts_nothing_in_the_place_of_a_method_of_any_class(name, form):
    words = refused(NewObject(Attributes, form({name: called})), LOOKUP)

    assert f"Attributes.{name}" in words


@pytest.mark.parametrize("name", ["__class__", "__dict__"])
def test_state_replaces_no_class_and_no_dict(name):
    value = Slots if name == "__class__" else {"method": called}

    words = refused(NewObject(Attributes, (None, {name: value})), LOOKUP)

    assert f"Attributes.{name}" in words


def test_state_may_hold_what_shadows_no_method():
    sent = Attributes()
    sent.plain, sent.kind, sent.own = called, dict, called
    sent.method = "text, which nobody can call"

    arrived = waybill.loads(waybill.dumps(sent), policy=LOOKUP)

    assert vars(arrived) == vars(sent)


def test_state_does_as_it_likes_where_code_is_let_in():
    sent = Attributes()
    sent.method = called

    arrived = waybill.loads(
        waybill.dumps(sent), policy=Policy("allow call *\nallow code")
    )

    assert arrived.method is called
    assert waybill.loads(waybill.dumps(sent)).method is called
    with pytest.raises(waybill.PolicyError, match=r"Attributes\.method"):
        waybill.loads(waybill.dumps(sent), policy=INSTALLED_CODE)
