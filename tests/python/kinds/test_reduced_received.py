"""Objects that a call makes are made by that call, whichever way they are read.

An Unpickler keeps what it reads, so it takes the way that serves all objects: that is
what the results are compared with.
"""

import copyreg
import datetime
import decimal
import fractions
import gc
import io
import math
import pathlib
import pickle
import uuid

import pytest
import waybill


def load_uncached(data):
    return waybill.Unpickler(io.BytesIO(data)).load()


UTC = datetime.UTC
MOMENT = datetime.datetime(2024, 5, 17, 12, 30, tzinfo=UTC)
CASES = {
    "dates": [datetime.date(2024, 1, i) for i in range(1, 9)],
    "moments": [MOMENT + datetime.timedelta(seconds=i) for i in range(9)],
    "deltas": [datetime.timedelta(i, i, i) for i in range(9)],
    "decimals": [decimal.Decimal(f"{i}.5") for i in range(9)],
    "fractions": [fractions.Fraction(i, 7) for i in range(9)],
    "paths": [pathlib.PurePosixPath(f"/a/b{i}") for i in range(9)],
    "ids": [uuid.UUID(int=i) for i in range(9)],
    "complex": [complex(i, 1) for i in range(9)],
    "keys": {datetime.date(2024, 1, i): i for i in range(1, 9)},
    "a set": {datetime.date(2024, 1, i) for i in range(1, 9)},
    "in tuples": [(MOMENT, [MOMENT]), (MOMENT,)],
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_call_makes_is_that_of_the_long_way(name):
    data = waybill.dumps(CASES[name])

    assert waybill.loads(data) == CASES[name] == load_uncached(data)


def test_an_object_that_is_met_again_is_one():
    first, second = MOMENT, datetime.date(2024, 1, 1)
    received = waybill.loads(waybill.dumps([first, second, second, [first], second]))

    assert received[1] is received[2] is received[4]
    assert received[3][0] is received[0]
    assert received[0].tzinfo is UTC


class Called:
    """Says what it was called with."""

    calls = []

    def __init__(self, *arguments):
        self.arguments = arguments

    def __reduce__(self):
        return remake, self.arguments


def remake(*arguments):
    Called.calls.append((arguments, gc.isenabled()))
    return Called(*arguments)


ARGUMENTS = [
    (),
    (1,),
    (None, True, -5, 2**63, 1.5, "text", b"bytes", "t" * 300),  # As many as eight,
    tuple(range(9)),  # and one more.
    ([1],),
    ((1, 2), "x"),
    (2**80,),
    ("\udc80",),
    (b"x" * 70_000,),
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda a: repr(a)[:20])
def test_arguments_arrive_and_the_collector_may_run(arguments):
    Called.calls.clear()
    data = waybill.dumps([Called(*arguments) for _ in range(3)])

    received = waybill.loads(data)

    assert [each.arguments for each in received] == [arguments] * 3
    assert Called.calls == [(arguments, True)] * 3


def test_arguments_that_came_before_are_the_same_objects():
    shared = [1]
    received = waybill.loads(waybill.dumps([shared, Called(shared), Called(shared, 1)]))

    assert received[1].arguments[0] is received[0] is received[2].arguments[0]


def test_what_a_call_raises_comes_through():
    class Fails:
        def __reduce__(self):
            return int, ("no number",)

    with pytest.raises(ValueError, match="no number"):
        waybill.loads(waybill.dumps([Fails(), Fails()]))


def test_what_is_called_may_load_too():
    class Nested:
        def __init__(self, data):
            self.data = data

        def __reduce__(self):
            return waybill.loads, (self.data,)

    inner = waybill.dumps([MOMENT, MOMENT])
    received = waybill.loads(waybill.dumps([Nested(inner), Nested(inner)]))

    assert received == [[MOMENT, MOMENT]] * 2


def test_objects_with_state_or_items_take_the_long_way():
    class WithState:
        def __reduce__(self):
            return Called, (1,), {"more": 2}

    class WithItems:
        def __reduce__(self):
            return list, (), None, iter([1, 2])

    received = waybill.loads(waybill.dumps([WithState(), WithState(), WithItems()]))

    assert [each.more for each in received[:2]] == [2, 2]
    assert received[2] == [1, 2]


class Filled:
    """What a call leaves to be filled: attributes, items, pairs."""

    def __init__(self, *parts):
        self.parts = parts
        self.items, self.pairs = [], {}

    def append(self, item):
        self.items.append(item)

    def __setitem__(self, key, value):
        self.pairs[key] = value

    def __reduce__(self):
        state, items, pairs, setter = self.parts
        return Filled, self.parts, state, iter(items), iter(pairs), setter


class FilledAnew(Filled):
    """The same by its class instead of a call."""

    def __reduce__(self):
        return copyreg.__newobj__, (FilledAnew, *self.parts), *super().__reduce__()[2:]

    def __new__(cls, *parts):
        made = super().__new__(cls)
        Filled.__init__(made, *parts)
        return made


def set_state(made, state):
    made.told = state


@pytest.mark.parametrize("kind", [Filled, FilledAnew])
@pytest.mark.parametrize("setter", [None, set_state])
@pytest.mark.parametrize("pairs", [[], [(1, "one")]])
@pytest.mark.parametrize("items", [[], [1, 2]])
@pytest.mark.parametrize("state", [None, {"more": 2}, (None, {"more": 2})])
def test_what_fills_an_object_arrives_as_with_pickle(state, items, pairs, setter, kind):
    sent = [kind(state, items, pairs, setter), "behind"]
    data = waybill.dumps(sent)

    expected, behind = pickle.loads(pickle.dumps(sent))

    for received in (waybill.loads(data), load_uncached(data)):
        assert vars(received[0]) == vars(expected)
        assert received[1] == behind


def test_names_and_buffers_that_are_met_again_are_one():
    held = bytearray(b"abc")
    sent = [math.sin, held, decimal.Decimal, held, math.sin, decimal.Decimal]

    received = waybill.loads(waybill.dumps(sent))

    assert received == sent
    assert received[1] is received[3]


class Node:
    def __init__(self, beside):
        self.beside = beside

    def __reduce__(self):
        return Node, (self.beside,)


def test_an_argument_may_be_the_tuple_around_the_object():
    inside = Node(None)
    around = (inside,)
    inside.beside = around

    first, received = waybill.loads(waybill.dumps([Node(None), around]))

    assert first.beside is None
    assert received[0].beside is received
