"""What is one object when it is sent is one object when it arrives."""

import types

import fresh_process
import pytest
import waybill
from claims_in_text import look_at_round_trip, read_claims
from sources import define, round_trip

MUTABLE = [[1], {1: 2}, {3}, bytearray(b"x"), types.SimpleNamespace(a=1)]
IMMUTABLE = [(1, [2]), frozenset({1}), 2.5, 2**80, "text" * 20, b"blob" * 20, 3 + 4j]


@pytest.mark.parametrize("shared", MUTABLE, ids=lambda value: type(value).__name__)
def test_mutable_object_in_two_places_stays_one(shared):
    arrived = round_trip([shared, {"again": shared}])

    assert arrived[0] is arrived[1]["again"]


@pytest.mark.parametrize("value", MUTABLE, ids=lambda value: type(value).__name__)
def test_equal_mutable_objects_stay_two(value):
    import copy

    arrived = round_trip([value, copy.copy(value)])

    assert arrived[0] is not arrived[1]


@pytest.mark.parametrize("shared", IMMUTABLE, ids=lambda value: type(value).__name__)
def test_immutable_object_in_two_places_stays_equal(shared):
    arrived = round_trip([shared, shared])

    assert arrived[0] == arrived[1] == shared


def test_tuple_in_two_places_stays_one():
    shared = ([],)

    arrived = round_trip([shared, shared])

    assert arrived[0] is arrived[1]


def test_a_thousand_references_to_a_hundred_lists_keep_their_identity():
    lists = [[number] for number in range(100)]

    arrived = round_trip([lists[i * 7 % 100] for i in range(1000)])

    assert [item[0] for item in arrived] == [i * 7 % 100 for i in range(1000)]
    assert len({id(item) for item in arrived}) == 100


def test_two_payloads_share_nothing():
    shared = [1]
    data = waybill.dumps(shared)

    assert waybill.loads(data) is not waybill.loads(data)


def test_temporaries_of_reducers_are_not_taken_for_each_other():
    # Each state dict is freed before the next is made, at the same address.
    source = """
    class Thing:
        def __init__(self, number): self.number = number
        def __getstate__(self): return {"number": self.number, "list": [self.number]}
    """
    things = [define(source).Thing(number) for number in range(50)]

    arrived = round_trip(things)

    assert [thing.list for thing in arrived] == [[number] for number in range(50)]


# ---- Functions


FUNCTIONS = """
two functions share the cell of a nonlocal
    def make():
        count = 0
        def step():
            nonlocal count
            count += 1
        def read(): return count
        return step, read
    value = make()
    >>> [value[0](), value[0](), value[1]()]
    [None, None, 2]

recursive inner function refers to itself
    def make():
        def f(n): return 1 if n == 0 else n * f(n - 1)
        return f
    value = make()
    >>> value(5), value.__closure__[0].cell_contents is value
    120, True

function in its own defaults
    def value(me=None): return me
    value.__defaults__ = (value,)
    >>> value() is value
    True

function in its own attributes
    def value(): pass
    value.me = [value]
    >>> value.me[0] is value
    True

cell sent as a value is the cell of the function
    def make(content): return lambda: content
    function = make([1])
    value = function.__closure__[0], function
    >>> value[1].__closure__[0] is value[0], value[0].cell_contents
    True, [1]

cell sent after its function is the cell of the function
    def make(content): return lambda: content
    function = make([1])
    value = function, function.__closure__[0]
    >>> value[0].__closure__[0] is value[1]
    True

cell that holds itself
    import types
    value = types.CellType()
    value.cell_contents = value
    >>> value.cell_contents is value
    True

functions that share code arrive with one code object
    def make(n):
        def f(): return n
        return f
    value = [make(1), make(2)]
    >>> value[0](), value[1](), value[0].__code__ is value[1].__code__
    1, 2, True

instance and its method belong together
    class Counter:
        def __init__(self): self.count = 0
        def step(self): self.count += 1
    counter = Counter()
    value = [counter, counter.step]
    >>> value[1](), value[0].count
    None, 1

cycle through an instance
    import types
    value = types.SimpleNamespace()
    value.items = [{"owner": value}]
    >>> value.items[0]["owner"] is value
    True
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(FUNCTIONS))
def test_what_is_shared_stays_one(source, expression, expected):
    assert look_at_round_trip(source, expression) == expected


def test_empty_cell_stays_empty_until_it_is_set():
    sent = define("""
    def make():
        def get(): return late
        def put(value):
            nonlocal late
            late = value
        if False: late = None
        return get, put
    """).make()

    get, put = round_trip(sent)

    with pytest.raises(NameError):
        get()
    put(3)
    assert get() == 3


def test_empty_cell_arrives_empty():
    arrived = round_trip(types.CellType())

    with pytest.raises(ValueError, match="empty"):
        arrived.cell_contents


def test_code_of_functions_that_share_it_travels_once():
    source = "def make(n):\n    def f(): return n\n    return f"
    make = define(source).make
    one, many = waybill.dumps([make(1)]), waybill.dumps([make(n) for n in range(50)])

    assert len(waybill.inspect(many)["code"]) == len(waybill.inspect(one)["code"]) == 1
